// Golden data of the small random encoder in tests/data/models/bert-classifier.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/golden.h"

namespace trireme::test {

struct EncoderCase {
  std::string text;
  std::vector<std::int32_t> ids;
  std::vector<float> logits, probabilities;
};

inline std::vector<EncoderCase> encoder_cases() {
  std::ifstream file(golden_model("bert-classifier") / "golden.json");
  const auto golden = nlohmann::json::parse(file);
  std::vector<EncoderCase> cases;
  for (const auto& entry : golden.at("cases")) {
    cases.push_back({entry.at("text"), entry.at("ids"), entry.at("logits"), entry.at("probabilities")});
  }
  return cases;
}

}  // namespace trireme::test
