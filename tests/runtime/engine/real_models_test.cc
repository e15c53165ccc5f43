// The two real models against what transformers gives for them in float32 (tests/data/README.md): tokens,
// log-probabilities and perplexity, over two stages. Runs where TRIREME_TEST_MODELS names the folder that holds their
// GGUF files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "tests/support/cluster.h"

namespace trireme::engine {
namespace {

constexpr float kTolerance = 5e-3f;
constexpr float kCertainMargin = 1e-2f;
constexpr int kNumStages = 2;

struct RealModel {
  std::string name, file;
};

class RealModelsTest : public testing::TestWithParam<RealModel> {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("TRIREME_TEST_MODELS");
    if (folder == nullptr)
      GTEST_SKIP() << "TRIREME_TEST_MODELS is not set; tests/run.sh fetches the models and sets it";
    config_ = test::exact_config(std::filesystem::path(folder) / GetParam().file);
    config_.kv_cache.memory_bytes = 512 << 20;
    std::ifstream file(std::filesystem::path(TRIREME_TEST_DATA) / "golden" / (GetParam().name + "-generations.json"));
    golden_ = nlohmann::json::parse(file);
  }

  // Perplexity of the golden windows of the evaluation text.
  double perplexity(const config::Config& config) {
    std::vector<double> means;
    test::with_cluster(config, kNumStages, [&](RankRuntime& runtime) {
      for (const auto& choices : test::generate(runtime, windows(runtime.tokenizer()))) {
        double sum = 0.0;
        for (const float logprob : choices[0].prompt_logprobs) sum -= logprob;
        means.push_back(sum / static_cast<double>(choices[0].prompt_logprobs.size()));
      }
    });
    double total = 0.0;
    for (const double mean : means) total += mean;
    return std::exp(total / static_cast<double>(means.size()));
  }

  std::vector<scheduler::Request> windows(const tokenizer::Tokenizer& tokenizer) const {
    std::ifstream file(std::filesystem::path(TRIREME_TEST_DATA) / "eval-text.txt");
    std::stringstream text;
    text << file.rdbuf();
    tokenizer::EncodeOptions options;
    options.add_special = false;
    const auto tokens = tokenizer.encode(text.str(), options).value();
    const auto size = golden_["perplexity"]["window_tokens"].get<std::size_t>();
    const auto count = golden_["perplexity"]["windows"].get<std::size_t>();
    std::vector<scheduler::Request> requests;
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::int32_t> window = tokenizer.encode("", {}).value();
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i * size);
      window.insert(window.end(), begin, begin + static_cast<std::ptrdiff_t>(size));
      requests.push_back(test::greedy(std::move(window), 0));
      requests.back().prompt_logprobs = true;
    }
    return requests;
  }

  config::Config config_;
  nlohmann::json golden_;
};

void expect_prompt_logprobs(const nlohmann::json& golden, const Generation& generation) {
  const auto& expected = golden["prompt_logprobs"];
  ASSERT_EQ(generation.prompt_logprobs.size() + 1, expected.size());
  for (std::size_t i = 1; i < expected.size(); ++i) {
    EXPECT_NEAR(generation.prompt_logprobs[i - 1], expected[i].get<float>(), kTolerance) << golden["text"];
  }
}

// Logits of the 20 most likely tokens, against that of the first.
void expect_top(const nlohmann::json& golden, const Generation& generation) {
  const auto& top = generation.tokens.front().top;
  const auto& expected = golden["top20"];
  EXPECT_NEAR(top[0].logprob, golden["logprob_top1"].get<float>(), kTolerance);
  for (const auto& entry : expected) {
    const auto token = entry[0].get<std::int32_t>();
    const auto found =
        std::find_if(top.begin(), top.end(), [&](const auto& candidate) { return candidate.token == token; });
    ASSERT_NE(found, top.end()) << golden["text"] << ": token " << token;
    const float difference = entry[1].get<float>() - expected[0][1].get<float>();
    EXPECT_NEAR(found->logprob - top[0].logprob, difference, kTolerance) << golden["text"] << ": token " << token;
  }
}

void expect_greedy(const nlohmann::json& golden, const Generation& generation) {
  const auto ids = generation.token_ids();
  for (std::size_t i = 0; i < golden["greedy_ids"].size(); ++i) {
    if (golden["greedy_margins"][i].get<float>() <= kCertainMargin) break;
    ASSERT_EQ(ids[i], golden["greedy_ids"][i].get<std::int32_t>()) << golden["text"] << ": token " << i;
  }
}

TEST_P(RealModelsTest, GenerationsAreTheReferences) {
  std::vector<scheduler::Request> requests;
  for (const auto& golden : golden_["generations"]) {
    requests.push_back(test::greedy(golden["ids"], static_cast<std::int32_t>(golden["greedy_ids"].size())));
    requests.back().prompt_logprobs = true;
    requests.back().sampling.num_logprobs = 32;
  }
  test::with_cluster(config_, kNumStages, [&](RankRuntime& runtime) {
    const auto outputs = test::generate(runtime, requests);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& golden = golden_["generations"][i];
      expect_prompt_logprobs(golden, outputs[i][0]);
      expect_top(golden, outputs[i][0]);
      expect_greedy(golden, outputs[i][0]);
    }
  });
}

TEST_P(RealModelsTest, PerplexityIsTheReferencesAndTheDefaultCacheAddsLittle) {
  const double reference = golden_["perplexity"]["perplexity"];
  const double exact = perplexity(config_);
  EXPECT_NEAR(exact, reference, reference * 0.001);
  config_.kv_cache.key = base::DType::kF16;
  config_.kv_cache.value = base::DType::kI8;
  const double mixed = perplexity(config_);
  EXPECT_NEAR(mixed, exact, exact * 0.01);
  RecordProperty("perplexity_exact", std::to_string(exact));
  RecordProperty("perplexity_default_cache", std::to_string(mixed));
  std::printf("%s: perplexity %.4f (reference %.4f), with the FP16/INT8 cache %.4f\n", GetParam().name.c_str(), exact,
              reference, mixed);
}

TEST_P(RealModelsTest, QuantisedWeightsAddLittlePerplexity) {
  const double reference = golden_["perplexity"]["perplexity"];
  const std::tuple<const char*, config::Weights, double> bounds[] = {{"int8", config::Weights::kInt8, 0.05},
                                                                     {"q8", config::Weights::kQ8, 0.005},
                                                                     {"auto", config::Weights::kAuto, 0.005}};
  for (const auto& [name, weights, bound] : bounds) {
    config_.model.weights = weights;
    const double quantised = perplexity(config_);
    EXPECT_LT(quantised, reference * (1.0 + bound)) << name;
    std::printf("%s: perplexity %.4f with weights as %s (reference %.4f)\n", GetParam().name.c_str(), quantised, name,
                reference);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RealModelsTest,
                         testing::Values(RealModel{"smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"},
                                         RealModel{"gemma3", "gemma-3-270m-q4_k_m.gguf"}),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace trireme::engine
