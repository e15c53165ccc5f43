// Writes a golden model as the GGUF file that the usual converters make of it: their names, their order of rows.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::test {

// Whether GGUF has a name for the architecture.
bool gguf_knows(const std::string& model);

// float32, without a tokenizer.
void write_as_gguf(const std::string& model, const std::filesystem::path& file);

}  // namespace trireme::test
