// Normalizer and pre-tokenizer of tokenizer.json.
#include <string>
#include <utility>

#include "runtime/tokenizer/character_class.h"
#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/pre_tokenizer_patterns.h"
#include "runtime/tokenizer/tokenizer_json_steps.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

std::optional<NormalizerStep> plain_normalizer(std::string_view type) {
  if (type == "NFC") return UnicodeForm::kNfc;
  if (type == "NFD") return UnicodeForm::kNfd;
  if (type == "NFKC") return UnicodeForm::kNfkc;
  if (type == "NFKD") return UnicodeForm::kNfkd;
  if (type == "Lowercase") return CharacterStep::kLowercase;
  if (type == "StripAccents") return CharacterStep::kRemoveMarks;
  if (type == "Nmt") return CharacterStep::kNmt;
  if (type == "ByteLevel") return WriteByteAlphabet{};
  return std::nullopt;
}

void add_bert_normalizer(const json& step, std::vector<NormalizerStep>& steps) {
  if (step.value("clean_text", true)) steps.emplace_back(CharacterStep::kClean);
  if (step.value("handle_chinese_chars", true)) steps.emplace_back(CharacterStep::kSpaceCjk);
  const bool lowercase = step.value("lowercase", true);
  const json strip = value_or_null(step, "strip_accents");
  if (strip.is_null() ? lowercase : strip.get<bool>()) {
    steps.emplace_back(UnicodeForm::kNfd);
    steps.emplace_back(CharacterStep::kRemoveNonspacingMarks);
  }
  if (lowercase) steps.emplace_back(CharacterStep::kLowercase);
}

base::Status add_normalizer_step(const json& step, std::vector<NormalizerStep>& steps) {
  const auto& type = step.at("type").get_ref<const std::string&>();
  if (auto plain = plain_normalizer(type)) {
    steps.push_back(std::move(*plain));
  } else if (type == "Prepend") {
    steps.emplace_back(PrependText{step.at("prepend").get<std::string>()});
  } else if (type == "Replace") {
    base::Result<Regex> pattern = parse_pattern(step.at("pattern"));
    if (!pattern) return pattern.error();
    steps.emplace_back(ReplaceText{std::move(*pattern), step.at("content").get<std::string>()});
  } else if (type == "Strip") {
    steps.emplace_back(StripWhitespace{step.value("strip_left", true), step.value("strip_right", true)});
  } else if (type == "BertNormalizer") {
    add_bert_normalizer(step, steps);
  } else if (type == "Precompiled") {
    const json charsmap = value_or_null(step, "precompiled_charsmap");
    if (charsmap.is_null() || charsmap == "") return base::ok_status();
    base::Result<PrecompiledCharsmap> parsed =
        PrecompiledCharsmap::parse_base64(charsmap.get_ref<const std::string&>());
    if (!parsed) return parsed.error();
    steps.emplace_back(std::move(*parsed));
  } else {
    return unsupported_type("normalizer", type);
  }
  return base::ok_status();
}

base::Result<SplitBehavior> parse_behavior(const std::string& name) {
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return base::unsupported("pre_tokenizer behavior \"" + name + "\" is not supported");
}

using Steps = std::vector<PreTokenizerStep>;

// Cuts where `pattern`, a regular expression of PCRE2, matches.
base::Status add_split(base::Result<Regex> pattern, SplitBehavior behavior, bool invert, Steps& steps) {
  if (!pattern) return pattern.error();
  steps.emplace_back(SplitStep{std::move(*pattern), behavior, invert});
  return base::ok_status();
}

base::Status add_class_split(std::string_view members, SplitBehavior behavior, Steps& steps) {
  return add_split(Regex::compile_native('[' + std::string(members) + ']'), behavior, false, steps);
}

base::Status add_split(const json& step, Steps& steps) {
  const base::Result<SplitBehavior> behavior = parse_behavior(step.at("behavior"));
  if (!behavior) return behavior.error();
  return add_split(parse_pattern(step.at("pattern")), *behavior, step.value("invert", false), steps);
}

base::Status add_punctuation(const json& step, Steps& steps) {
  const base::Result<SplitBehavior> behavior = parse_behavior(step.value("behavior", "Isolated"));
  if (!behavior) return behavior.error();
  return add_class_split(kPunctuationClass, *behavior, steps);
}

base::Status add_digits(const json& step, Steps& steps) {
  const bool individual = step.value("individual_digits", false);
  return add_class_split(R"(\p{N})", individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous, steps);
}

// Words are runs of word characters, and runs of what is neither that nor a space.
base::Status add_whitespace(Steps& steps) {
  const std::string word(kWordClass);
  return add_split(Regex::compile_native('[' + word + "]+|[^" + word + std::string(kSpaceClass) + "]+"),
                   SplitBehavior::kRemoved, true, steps);
}

base::Status add_bert(Steps& steps) {
  const base::Status status = add_class_split(kSpaceClass, SplitBehavior::kRemoved, steps);
  return status ? add_class_split(kPunctuationClass, SplitBehavior::kIsolated, steps) : status;
}

base::Status add_byte_level(const json& step, Steps& steps) {
  if (step.value("add_prefix_space", true)) steps.emplace_back(PrefixSpaceStep{});
  if (step.value("use_regex", true)) {
    const base::Status status = add_split(Regex::compile(kGpt2Pattern), SplitBehavior::kIsolated, false, steps);
    if (!status) return status;
  }
  steps.emplace_back(ByteAlphabetStep{});
  return base::ok_status();
}

base::Status add_metaspace(const json& step, Steps& steps) {
  const std::string scheme = step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never");
  if (scheme != "never" && scheme != "first" && scheme != "always") {
    return base::unsupported("pre_tokenizer Metaspace prepend_scheme \"" + scheme + "\" is not supported");
  }
  const auto prepend = scheme == "never"   ? MetaspaceStep::Prepend::kNever
                       : scheme == "first" ? MetaspaceStep::Prepend::kFirst
                                           : MetaspaceStep::Prepend::kAlways;
  std::string replacement = step.value("replacement", std::string(kMetaspace));
  if (!is_one_character(replacement)) {
    return base::invalid_argument("pre_tokenizer Metaspace: replacement is not one character");
  }
  steps.emplace_back(MetaspaceStep{prepend, step.value("split", true), std::move(replacement)});
  return base::ok_status();
}

base::Status add_pre_tokenizer_step(const json& step, Steps& steps) {
  const auto& type = step.at("type").get_ref<const std::string&>();
  if (type == "Split") return add_split(step, steps);
  if (type == "Digits") return add_digits(step, steps);
  if (type == "ByteLevel") return add_byte_level(step, steps);
  if (type == "Metaspace") return add_metaspace(step, steps);
  if (type == "Punctuation") return add_punctuation(step, steps);
  if (type == "Whitespace") return add_whitespace(steps);
  if (type == "WhitespaceSplit") return add_class_split(kSpaceClass, SplitBehavior::kRemoved, steps);
  if (type == "BertPreTokenizer") return add_bert(steps);
  if (type == "CharDelimiterSplit") {
    return add_split(Regex::literal(step.at("delimiter").get_ref<const std::string&>()), SplitBehavior::kRemoved, false,
                     steps);
  }
  return unsupported_type("pre_tokenizer", type);
}

}  // namespace

base::Result<Regex> parse_pattern(const json& pattern) {
  if (pattern.contains("String")) return Regex::literal(pattern.at("String").get_ref<const std::string&>());
  return Regex::compile(pattern.at("Regex").get_ref<const std::string&>());
}

base::Result<Normalizer> parse_normalizer(const json& object) {
  return with_json_errors("normalizer", [&]() -> base::Result<Normalizer> {
    std::vector<json> objects;
    flatten_sequence(object, "normalizers", objects);
    std::vector<NormalizerStep> steps;
    for (const json& step : objects) {
      const base::Status status = add_normalizer_step(step, steps);
      if (!status) return status.error();
    }
    return Normalizer(std::move(steps));
  });
}

base::Result<ParsedPreTokenizer> parse_pre_tokenizer(const json& object) {
  return with_json_errors("pre_tokenizer", [&]() -> base::Result<ParsedPreTokenizer> {
    std::vector<json> objects;
    flatten_sequence(object, "pretokenizers", objects);
    ParsedPreTokenizer parsed;
    std::size_t num_byte_levels = 0;
    for (const json& step : objects) {
      const base::Status status = add_pre_tokenizer_step(step, parsed.steps);
      if (!status) return status.error();
      if (step.at("type") == "ByteLevel") ++num_byte_levels;
    }
    parsed.ends_in_byte_alphabet =
        num_byte_levels == 1 && std::holds_alternative<ByteAlphabetStep>(parsed.steps.back());
    return parsed;
  });
}

}  // namespace trireme::tokenizer
