// Golden data of the small random models in tests/data/models (see tests/data/README.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trireme::test {

struct GoldenCase {
  std::vector<std::int32_t> prompt_ids;
  std::vector<float> last_logits;      // [vocab_size]
  std::vector<float> prompt_logprobs;  // [prompt - 1]: of each token but the first
  std::vector<std::int32_t> greedy_ids;
  std::vector<float> greedy_margins;  // top-1 minus top-2 logit at each step
};

// The decoders in tests/data/models.
const std::vector<std::string>& golden_decoders();
// Whether this program was built with a sanitizer, and so is some ten times slower.
bool is_sanitized();
// For tests that start a whole engine per model: all of them; under a sanitizer, a dense one and one with experts.
const std::vector<std::string>& engine_decoders();
std::filesystem::path golden_model(const std::string& name);
// The name as a test's parameter may have it.
std::string parameter_name(std::string model);
std::vector<GoldenCase> golden_cases(const std::string& name);
// Of an adapter over models/llama in tests/data/adapters: without log-probabilities.
std::filesystem::path golden_adapter(const std::string& name);
std::vector<GoldenCase> golden_adapter_cases(const std::string& name);

// Where greedy decoding may first differ from the golden one without a fault: the first margin of at most `margin`.
std::size_t certain_tokens(const GoldenCase& golden, float margin);

}  // namespace trireme::test
