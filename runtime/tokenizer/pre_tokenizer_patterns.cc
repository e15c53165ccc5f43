#include "runtime/tokenizer/pre_tokenizer_patterns.h"

#include <algorithm>
#include <string>
#include <vector>

namespace trireme::tokenizer {

const std::string_view kGpt2Pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

constexpr std::string_view kDigit = R"(\p{N})";
constexpr std::string_view kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kPunctuation = R"([\p{P}\$\+<=>\^~\|]+)";
constexpr std::string_view kNumber = R"(\p{N}+)";
constexpr std::string_view kThreeDigits = "[0-9][0-9][0-9]";

struct Recipe {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;  // one step each, in this order
  bool nfc = false;
  bool ignore_merges = false;
  bool add_bos = false;
};

std::vector<Recipe> recipes() {
  return {
      {{"gpt-2", "mpt", "olmo", "jais", "phi-2"}, {kGpt2Pattern}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell"}, {kDigit, kGpt2Pattern}},
      {{"llama-bpe", "llama3", "llama-v3"}, {kLlama3Pattern}, false, true, true},
      {{"dbrx", "smaug-bpe"}, {kLlama3Pattern}},
      {{"qwen2", "deepseek-r1-qwen"}, {kQwen2Pattern}, true},
      {{"default"}, {kPunctuation, kGpt2Pattern, kNumber, kThreeDigits}},
  };
}

}  // namespace

base::Result<NamedPreTokenizer> pre_tokenizer_by_name(std::string_view name) {
  std::string known;
  for (const Recipe& recipe : recipes()) {
    for (const std::string_view other : recipe.names) known += (known.empty() ? "" : ", ") + std::string(other);
    if (std::find(recipe.names.begin(), recipe.names.end(), name) == recipe.names.end()) continue;
    std::vector<PreTokenizerStep> steps;
    for (const std::string_view pattern : recipe.patterns) {
      base::Result<Regex> regex = Regex::compile(pattern);
      TRIREME_CHECK(regex.ok()) << name;
      steps.push_back(SplitStep{std::move(*regex)});
    }
    std::vector<NormalizerStep> normalizer;
    if (recipe.nfc) normalizer.push_back(UnicodeForm::kNfc);
    return NamedPreTokenizer{Normalizer(std::move(normalizer)), PreTokenizer(std::move(steps)), recipe.ignore_merges,
                             recipe.add_bos};
  }
  return base::unsupported("pre-tokenizer \"" + std::string(name) + "\" is not known (known: " + known + ")");
}

}  // namespace trireme::tokenizer
