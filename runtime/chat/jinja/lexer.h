// Lexer: template source to tokens, with comments and raw blocks resolved and whitespace controlled as jinja2 does with
// trim_blocks and lstrip_blocks: the newline after a block goes, and so do spaces between a line's start and a block.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/chat/jinja/token.h"

namespace trireme::chat::jinja {

// The last token is kEnd. Throws TemplateError.
std::vector<Token> tokenize(std::string_view source);

}  // namespace trireme::chat::jinja
