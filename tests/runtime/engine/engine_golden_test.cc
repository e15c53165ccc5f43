// Whole pipelines against the golden data: prompt log-probabilities, first-token log-probabilities and greedy tokens.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/cluster.h"
#include "tests/support/golden.h"

namespace trireme::engine {
namespace {

constexpr float kTolerance = 2e-3f;
constexpr float kCertainMargin = 1e-2f;

struct Variant {
  std::string model;
  config::Device device;
  std::int32_t block_tokens;
  int num_ranks;
};

class EngineGoldenTest : public testing::TestWithParam<Variant> {};

void expect_greedy(const test::GoldenCase& golden, const std::vector<std::int32_t>& ids) {
  ASSERT_EQ(ids.size(), golden.greedy_ids.size());
  for (std::size_t i = 0; i < test::certain_tokens(golden, kCertainMargin); ++i) {
    ASSERT_EQ(ids[i], golden.greedy_ids[i]) << "token " << i << " after a prompt of " << golden.prompt_ids.size();
  }
}

void expect_logprobs(const test::GoldenCase& golden, const Generation& generation) {
  ASSERT_EQ(generation.prompt_logprobs.size(), golden.prompt_logprobs.size());
  for (std::size_t i = 0; i < golden.prompt_logprobs.size(); ++i) {
    ASSERT_NEAR(generation.prompt_logprobs[i], golden.prompt_logprobs[i], kTolerance) << i;
  }
  double sum = 0.0;
  for (const float logit : golden.last_logits) sum += std::exp(static_cast<double>(logit));
  const auto& top = generation.tokens.front().top;
  ASSERT_EQ(top.size(), golden.last_logits.size());
  for (const scheduler::TokenLogprob& entry : top) {
    const double expected = golden.last_logits[static_cast<std::size_t>(entry.token)] - std::log(sum);
    ASSERT_NEAR(entry.logprob, expected, kTolerance) << "token " << entry.token;
  }
}

TEST_P(EngineGoldenTest, GivesTheGoldenTokensAndLogprobs) {
  config::Config config = test::exact_config(test::golden_model(GetParam().model));
  config.device.kind = GetParam().device;
  config.kv_cache.block_tokens = GetParam().block_tokens;
  const auto cases = test::golden_cases(GetParam().model);
  std::vector<scheduler::Request> requests;
  for (const test::GoldenCase& golden : cases) {
    requests.push_back(test::greedy(golden.prompt_ids, static_cast<std::int32_t>(golden.greedy_ids.size())));
    requests.back().prompt_logprobs = true;
    requests.back().sampling.num_logprobs = static_cast<std::int32_t>(golden.last_logits.size());
  }
  test::with_cluster(config, GetParam().num_ranks, [&](RankRuntime& runtime) {
    const auto outputs = test::generate(runtime, requests);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      expect_greedy(cases[i], outputs[i][0].token_ids());
      expect_logprobs(cases[i], outputs[i][0]);
    }
  });
}

std::vector<Variant> variants() {
  std::vector<Variant> all;
  for (const std::string& model : test::engine_decoders()) {
    for (const std::int32_t block_tokens : {0, 8}) {
      all.push_back({model, config::Device::kReference, block_tokens, 1});
      for (const int ranks : {1, 2, 3, 4}) all.push_back({model, config::Device::kCpu, block_tokens, ranks});
    }
  }
  return all;
}

std::string variant_name(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.model + (info.param.device == config::Device::kCpu ? "_cpu" : "_reference") + "_block" +
                     std::to_string(info.param.block_tokens) + "_ranks" + std::to_string(info.param.num_ranks);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, EngineGoldenTest, testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace trireme::engine
