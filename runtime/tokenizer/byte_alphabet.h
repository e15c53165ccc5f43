// The byte alphabet of GPT-2: each of the 256 bytes as a printable character, in which byte-level vocabularies are
// written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::tokenizer {

// The bytes that `token` stands for; nothing if one of its characters is not in the alphabet.
std::optional<std::string> bytes_from_alphabet(std::string_view token);

// Each byte as its character.
std::string to_alphabet(std::string_view bytes);

}  // namespace trireme::tokenizer
