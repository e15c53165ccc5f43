// Pre-tokenizers by the name that GGUF files give them (tokenizer.ggml.pre), and the pattern of GPT-2.
#pragma once

#include <string_view>

#include "base/result.h"
#include "runtime/tokenizer/normalizer.h"
#include "runtime/tokenizer/pre_tokenizer.h"

namespace trireme::tokenizer {

extern const std::string_view kGpt2Pattern;  // as in tokenizer.json's "ByteLevel" with use_regex

struct NamedPreTokenizer {
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  bool ignore_merges = false;
  bool add_bos = false;  // where the file does not say
};

// Error: the name is not known; the message lists those that are.
base::Result<NamedPreTokenizer> pre_tokenizer_by_name(std::string_view name);

}  // namespace trireme::tokenizer
