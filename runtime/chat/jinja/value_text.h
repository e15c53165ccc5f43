// Values as text, as Python's str() and repr() give it.
#pragma once

#include <string>
#include <string_view>

#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

std::string to_text(RenderContext& context, const Value& value);  // str()
std::string to_repr(RenderContext& context, const Value& value);  // repr()

std::string float_text(double value);             // 1.0, 1e-07, inf
std::string repr_of_text(std::string_view text);  // with quotes and escapes

}  // namespace trireme::chat::jinja
