// Normalizer and pre-tokenizer of tokenizer.json.
#include <string>
#include <utility>

#include "runtime/tokenizer/json_error.h"
#include "runtime/tokenizer/metaspace.h"
#include "runtime/tokenizer/pre_tokenizer_patterns.h"
#include "runtime/tokenizer/tokenizer_json_steps.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;

// {"String": "…"} or {"Regex": "…"}
base::Result<Regex> parse_pattern(const json& pattern) {
  if (pattern.contains("String")) return Regex::literal(pattern.at("String").get_ref<const std::string&>());
  return Regex::compile(pattern.at("Regex").get_ref<const std::string&>());
}

std::optional<UnicodeForm> unicode_form(std::string_view type) {
  if (type == "NFC") return UnicodeForm::kNfc;
  if (type == "NFD") return UnicodeForm::kNfd;
  if (type == "NFKC") return UnicodeForm::kNfkc;
  if (type == "NFKD") return UnicodeForm::kNfkd;
  return std::nullopt;
}

base::Status add_normalizer_step(const json& step, std::vector<NormalizerStep>& steps) {
  const auto& type = step.at("type").get_ref<const std::string&>();
  if (const auto form = unicode_form(type)) {
    steps.push_back(*form);
  } else if (type == "Prepend") {
    steps.push_back(PrependText{step.at("prepend").get<std::string>()});
  } else if (type == "Replace") {
    base::Result<Regex> pattern = parse_pattern(step.at("pattern"));
    if (!pattern) return pattern.error();
    steps.push_back(ReplaceText{std::move(*pattern), step.at("content").get<std::string>()});
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
  return base::unsupported("pre_tokenizer Split behavior \"" + name + "\" is not supported");
}

base::Status add_split(base::Result<Regex> pattern, SplitBehavior behavior, bool invert,
                       std::vector<PreTokenizerStep>& steps) {
  if (!pattern) return pattern.error();
  steps.emplace_back(SplitStep{std::move(*pattern), behavior, invert});
  return base::ok_status();
}

base::Status add_split(const json& step, std::vector<PreTokenizerStep>& steps) {
  const base::Result<SplitBehavior> behavior = parse_behavior(step.at("behavior"));
  if (!behavior) return behavior.error();
  return add_split(parse_pattern(step.at("pattern")), *behavior, step.value("invert", false), steps);
}

base::Status add_digits(const json& step, std::vector<PreTokenizerStep>& steps) {
  const bool individual = step.value("individual_digits", false);
  return add_split(Regex::compile(individual ? R"(\p{N})" : R"(\p{N}+)"), SplitBehavior::kIsolated, false, steps);
}

base::Status add_byte_level(const json& step, std::vector<PreTokenizerStep>& steps) {
  if (step.value("add_prefix_space", true)) steps.emplace_back(PrefixSpaceStep{});
  if (!step.value("use_regex", true)) return base::ok_status();
  return add_split(Regex::compile(kGpt2Pattern), SplitBehavior::kIsolated, false, steps);
}

base::Status add_metaspace(const json& step, std::vector<PreTokenizerStep>& steps) {
  if (step.value("replacement", std::string(kMetaspace)) != kMetaspace) {
    return base::unsupported("pre_tokenizer Metaspace with another replacement than U+2581 is not supported");
  }
  const std::string scheme = step.value("prepend_scheme", step.value("add_prefix_space", true) ? "always" : "never");
  if (scheme != "never" && scheme != "first" && scheme != "always") {
    return base::unsupported("pre_tokenizer Metaspace prepend_scheme \"" + scheme + "\" is not supported");
  }
  const auto prepend = scheme == "never"   ? MetaspaceStep::Prepend::kNever
                       : scheme == "first" ? MetaspaceStep::Prepend::kFirst
                                           : MetaspaceStep::Prepend::kAlways;
  steps.emplace_back(MetaspaceStep{prepend, step.value("split", true)});
  return base::ok_status();
}

base::Status add_pre_tokenizer_step(const json& step, std::vector<PreTokenizerStep>& steps) {
  const auto& type = step.at("type").get_ref<const std::string&>();
  if (type == "Split") return add_split(step, steps);
  if (type == "Digits") return add_digits(step, steps);
  if (type == "ByteLevel") return add_byte_level(step, steps);
  if (type == "Metaspace") return add_metaspace(step, steps);
  return unsupported_type("pre_tokenizer", type);
}

}  // namespace

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
    std::vector<PreTokenizerStep> steps;
    bool byte_level = false;
    for (const json& step : objects) {
      // Later steps would see the byte alphabet, which this tokenizer never writes out.
      if (byte_level) return base::unsupported("pre_tokenizer: a step after ByteLevel is not supported");
      const base::Status status = add_pre_tokenizer_step(step, steps);
      if (!status) return status.error();
      byte_level = step.at("type") == "ByteLevel";
    }
    return ParsedPreTokenizer{PreTokenizer(std::move(steps)), byte_level};
  });
}

}  // namespace trireme::tokenizer
