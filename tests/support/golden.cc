#include "tests/support/golden.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace trireme::test {

const std::vector<std::string>& golden_decoders() {
  static const std::vector<std::string> kNames = {
      "llama", "llama-tied-mha", "llama3-rope", "llama-headdim", "mistral-window", "qwen2",    "qwen3",   "phi3",
      "olmo2", "gemma2",         "gemma3",      "gpt2",          "gpt-neo",        "gpt-neox", "mixtral", "qwen3-moe"};
  return kNames;
}

bool is_sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return true;
#else
  return false;
#endif
}

const std::vector<std::string>& engine_decoders() {
  static const std::vector<std::string> kFew = {"llama", "mixtral"};
  return is_sanitized() ? kFew : golden_decoders();
}

std::filesystem::path golden_model(const std::string& name) {
  return std::filesystem::path(TRIREME_TEST_DATA) / "models" / name;
}

std::string parameter_name(std::string model) {
  std::replace(model.begin(), model.end(), '-', '_');
  return model;
}

std::filesystem::path golden_adapter(const std::string& name) {
  return std::filesystem::path(TRIREME_TEST_DATA) / "adapters" / name;
}

namespace {

std::vector<GoldenCase> read_cases(const std::filesystem::path& folder) {
  std::ifstream file(folder / "golden.json");
  const auto golden_file = nlohmann::json::parse(file);
  std::vector<GoldenCase> cases;
  for (const auto& entry : golden_file.at("cases")) {
    GoldenCase golden;
    entry.at("prompt_ids").get_to(golden.prompt_ids);
    entry.at("last_logits").get_to(golden.last_logits);
    entry.at("greedy_ids").get_to(golden.greedy_ids);
    entry.at("greedy_margins").get_to(golden.greedy_margins);
    for (const auto& logprob : entry.value("prompt_logprobs", nlohmann::json::array())) {
      if (!logprob.is_null()) golden.prompt_logprobs.push_back(logprob.get<float>());
    }
    cases.push_back(std::move(golden));
  }
  if (cases.empty()) throw std::runtime_error("no golden cases in " + folder.string());
  return cases;
}

}  // namespace

std::vector<GoldenCase> golden_cases(const std::string& name) {
  return read_cases(golden_model(name));
}

std::vector<GoldenCase> golden_adapter_cases(const std::string& name) {
  return read_cases(golden_adapter(name));
}

std::size_t certain_tokens(const GoldenCase& golden, float margin) {
  const auto found = std::find_if(golden.greedy_margins.begin(), golden.greedy_margins.end(),
                                  [&](float value) { return value <= margin; });
  return static_cast<std::size_t>(found - golden.greedy_margins.begin());
}

}  // namespace trireme::test
