// The character that SentencePiece-style vocabularies write for a space.
#pragma once

#include <string_view>

namespace trireme::tokenizer {

inline constexpr std::string_view kMetaspace = "\xE2\x96\x81";  // U+2581

}  // namespace trireme::tokenizer
