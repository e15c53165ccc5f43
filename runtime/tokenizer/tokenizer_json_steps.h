// The steps that tokenizer.json describes around the model. Each function gets the object of its key, or null; what is
// not supported is refused by its type's name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/pipeline_tokenizer.h"

namespace trireme::tokenizer {

// {"String": "…"} or {"Regex": "…"}
base::Result<Regex> parse_pattern(const nlohmann::json& pattern);

base::Result<Normalizer> parse_normalizer(const nlohmann::json& object);

struct ParsedPreTokenizer {
  std::vector<PreTokenizerStep> steps;
  bool ends_in_byte_alphabet = false;  // the last step, and no other, writes GPT-2's byte alphabet
};
base::Result<ParsedPreTokenizer> parse_pre_tokenizer(const nlohmann::json& object);

struct ParsedDecoder {
  TokenDecoder decoder;
  bool reads_byte_alphabet = false;  // and does nothing else
};
base::Result<ParsedDecoder> parse_decoder(const nlohmann::json& object);

struct ParsedPostProcessor {
  std::vector<TokenId> prefix;
  std::vector<TokenId> suffix;
};
base::Result<ParsedPostProcessor> parse_post_processor(const nlohmann::json& object);

}  // namespace trireme::tokenizer
