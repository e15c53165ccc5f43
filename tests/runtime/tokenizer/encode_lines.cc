// Encodes texts for tests/runtime/tokenizer/compare_with_reference.py: each line of standard input is a JSON string;
// each line of output {"ids", "text_ids" (special tokens as plain text), "decoded"} of it, or {"error"}.
//   encode_lines TOKENIZER, a directory with a tokenizer or its file
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/tokenizer/tokenizer.h"

namespace trireme::tokenizer {
namespace {

nlohmann::json encode(const Tokenizer& tokenizer, const std::string& text) {
  const auto ids = tokenizer.encode(text, {});
  if (!ids) return {{"error", ids.error().message}};
  const auto text_ids = tokenizer.encode(text, {.special = SpecialTokens::kAsText});
  if (!text_ids) return {{"error", text_ids.error().message}};
  return {{"ids", *ids}, {"text_ids", *text_ids}, {"decoded", tokenizer.decode(*ids, true)}};
}

int run(const std::string& path) {
  const auto tokenizer = Tokenizer::from_path(path);
  if (!tokenizer) {
    std::cerr << tokenizer.error().message << "\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const nlohmann::json result = encode(**tokenizer, nlohmann::json::parse(line).get<std::string>());
    std::cout << result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  }
  return 0;
}

}  // namespace
}  // namespace trireme::tokenizer

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: encode_lines TOKENIZER\n";
    return 2;
  }
  return trireme::tokenizer::run(argv[1]);
}
