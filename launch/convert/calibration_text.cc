#include "launch/convert/calibration_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "runtime/checkpoint/bounded_json.h"

namespace trireme::launch {
namespace {

using calibration::Tokens;

constexpr std::int32_t kMinWindowTokens = 16;
constexpr std::size_t kMaxWindows = 8;
constexpr std::size_t kEvaluationShare = 5;  // a fifth

bool has_json_lines(const std::string& name) {
  return name.ends_with(".jsonl") || name.ends_with(".json");
}

std::optional<std::string> text_of(const nlohmann::json& object) {
  if (!object.is_object()) return std::nullopt;
  for (const char* key : {"text", "prompt"}) {
    if (object.contains(key) && object.at(key).is_string()) return object.at(key).get<std::string>();
  }
  return std::nullopt;
}

base::Result<std::vector<std::string>> documents(const std::string& text, const std::string& name) {
  if (!has_json_lines(name)) return std::vector<std::string>{text};
  std::vector<std::string> found;
  std::istringstream lines(text);
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const std::string where = name + ":" + std::to_string(number);
    const auto object = checkpoint::parse_bounded_json(line, where);
    if (!object) return object.error();
    auto document = text_of(*object);
    if (!document) return base::invalid_argument(where + ": not an object with a string \"text\" or \"prompt\"");
    found.push_back(std::move(*document));
  }
  return found;
}

base::Result<Tokens> tokens_of(const std::vector<std::string>& documents, const std::string& name,
                               const tokenizer::Tokenizer& tokenizer) {
  tokenizer::EncodeOptions plain;
  plain.special = tokenizer::SpecialTokens::kAsText;
  plain.add_special = false;
  Tokens all;
  for (const std::string& document : documents) {
    const auto tokens = tokenizer.encode(document, plain);
    if (!tokens) return base::invalid_argument(name + ": " + tokens.error().message);
    all.insert(all.end(), tokens->begin(), tokens->end());
  }
  return all;
}

// Tokens [begin, begin + size) behind a BOS where the model wants one.
Tokens window(const Tokens& bos, const Tokens& tokens, std::size_t begin, std::size_t size) {
  Tokens cut = bos;
  const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
  cut.insert(cut.end(), first, first + static_cast<std::ptrdiff_t>(size));
  return cut;
}

}  // namespace

base::Result<calibration::CalibrationTexts> cut_calibration_text(const std::string& text, const std::string& name,
                                                                 const tokenizer::Tokenizer& tokenizer,
                                                                 CalibrationCut cut) {
  const auto parts = documents(text, name);
  if (!parts) return parts.error();
  const auto tokens = tokens_of(*parts, name, tokenizer);
  if (!tokens) return tokens.error();
  const auto bos = tokenizer.encode("", {});
  if (!bos) return bos.error();
  const auto total = static_cast<std::int64_t>(tokens->size());
  while (cut.window_tokens > total / 2) cut.window_tokens /= 2;
  if (cut.window_tokens < kMinWindowTokens) {
    return base::invalid_argument(name + ": too little text to calibrate with: " + std::to_string(total) + " tokens");
  }
  const auto window_size = static_cast<std::size_t>(cut.window_tokens);
  const std::size_t windows = std::clamp<std::size_t>(tokens->size() / kEvaluationShare / window_size, 1, kMaxWindows);
  const std::size_t split = tokens->size() - windows * window_size;
  calibration::CalibrationTexts texts;
  for (std::size_t i = 0; i < windows; ++i) {
    texts.evaluation.push_back(window(*bos, *tokens, split + i * window_size, window_size));
  }
  const std::size_t sample_size = std::min(static_cast<std::size_t>(cut.sample_tokens), split);
  const std::size_t available = split / sample_size;
  const std::size_t samples = std::min(available, static_cast<std::size_t>(cut.num_samples));
  for (std::size_t i = 0; i < samples; ++i) {
    texts.samples.push_back(window(*bos, *tokens, i * available / samples * sample_size, sample_size));
  }
  return texts;
}

}  // namespace trireme::launch
