// Python's % operator on text: %s, %d, %.2f, %(name)s and the like.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/chat/jinja/render_context.h"
#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

// `mapping`: for %(name)s; null if the arguments are not one dict.
Value printf_format(RenderContext& context, std::string_view format, const std::vector<Value>& arguments,
                    const Dict* mapping);

}  // namespace trireme::chat::jinja
