// A tokenizer.json, and after a NUL a text for it.
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "runtime/tokenizer/loaders.h"
#include "runtime/tokenizer/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace tokenizer = trireme::tokenizer;
  const std::uint8_t* const separator = std::find(data, data + size, 0);
  auto parts = tokenizer::parse_tokenizer(std::string(data, separator));
  if (!parts) return 0;
  const tokenizer::PipelineTokenizer pipeline(std::move(*parts));
  const std::string text =
      separator == data + size ? "Row, row 12\n \xE4\xB8\xAD" : std::string(separator + 1, data + size);
  const auto ids = pipeline.encode(text, {});
  if (!ids) return 0;
  for (const tokenizer::TokenId id : *ids) TRIREME_CHECK(id >= 0 && id < pipeline.vocab_size()) << id;
  static_cast<void>(pipeline.decode(*ids, true));
  return 0;
}
