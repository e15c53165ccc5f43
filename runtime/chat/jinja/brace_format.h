// Python's str.format.
#pragma once

#include "runtime/chat/jinja/callable.h"
#include "runtime/chat/jinja/render_context.h"

namespace trireme::chat::jinja {

// The method: the first argument is the text with fields in braces.
Value brace_format(RenderContext& context, const Arguments& arguments);

}  // namespace trireme::chat::jinja
