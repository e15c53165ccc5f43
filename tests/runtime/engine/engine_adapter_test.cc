// Low-rank adapters over whole pipelines: the golden values, in batches that mix them, and not a bit of influence on
// rows that run without or with another one.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/cluster.h"
#include "tests/support/fingerprint.h"
#include "tests/support/golden.h"

namespace trireme::engine {
namespace {

constexpr float kTolerance = 2e-3f;
constexpr float kCertainMargin = 1e-2f;

config::Config with_adapters(config::Config config) {
  for (const std::string name : {"a", "b"})
    config.model.adapters.push_back({name, test::golden_adapter(name).string()});
  return config;
}

void expect_golden(const test::GoldenCase& golden, const Generation& generation) {
  const auto ids = generation.token_ids();
  for (std::size_t i = 0; i < test::certain_tokens(golden, kCertainMargin); ++i) {
    ASSERT_EQ(ids[i], golden.greedy_ids[i]) << "token " << i << " after a prompt of " << golden.prompt_ids.size();
  }
  double sum = 0.0;
  for (const float logit : golden.last_logits) sum += std::exp(static_cast<double>(logit));
  for (const scheduler::TokenLogprob& entry : generation.tokens.front().top) {
    const double expected = golden.last_logits[static_cast<std::size_t>(entry.token)] - std::log(sum);
    ASSERT_NEAR(entry.logprob, expected, kTolerance) << "token " << entry.token;
  }
}

struct Variant {
  config::Device device;
  int num_ranks;
};

class AdapterGoldenTest : public testing::TestWithParam<Variant> {};

// One batch of rows with adapter a, with b, and with none, in turn.
TEST_P(AdapterGoldenTest, AMixedBatchGivesEachAdaptersGoldenValues) {
  config::Config config = with_adapters(test::exact_config(test::golden_model("llama")));
  config.device.kind = GetParam().device;
  const std::vector<std::vector<test::GoldenCase>> cases = {
      test::golden_cases("llama"), test::golden_adapter_cases("a"), test::golden_adapter_cases("b")};
  std::vector<scheduler::Request> requests;
  for (std::size_t i = 0; i < cases[0].size(); ++i) {
    for (std::uint32_t adapter = 0; adapter < 3; ++adapter) {
      requests.push_back(test::greedy(cases[adapter][i].prompt_ids, 16));
      requests.back().adapter = adapter;
      requests.back().sampling.num_logprobs = 512;
    }
  }
  test::with_cluster(config, GetParam().num_ranks, [&](RankRuntime& runtime) {
    const auto outputs = test::generate(runtime, requests);
    for (std::size_t i = 0; i < outputs.size(); ++i) expect_golden(cases[i % 3][i / 3], outputs[i][0]);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, AdapterGoldenTest,
                         testing::Values(Variant{config::Device::kReference, 1}, Variant{config::Device::kCpu, 1},
                                         Variant{config::Device::kCpu, 2}, Variant{config::Device::kCpu, 3},
                                         Variant{config::Device::kCpu, 4}),
                         [](const auto& variant) {
                           const bool cpu = variant.param.device == config::Device::kCpu;
                           return (cpu ? "cpu_" : "reference_") + std::to_string(variant.param.num_ranks);
                         });

class AdapterInvarianceTest : public testing::Test {
 protected:
  // Requests of every adapter and of none.
  static std::vector<scheduler::Request> requests() {
    auto all = test::mixed_requests();
    for (std::size_t i = 0; i < all.size(); ++i) all[i].adapter = static_cast<std::uint32_t>(i % 3);
    return all;
  }
  static std::vector<std::string> run(const config::Config& config, int num_ranks) {
    std::vector<std::string> result;
    test::with_cluster(config, num_ranks,
                       [&](RankRuntime& runtime) { result = test::fingerprints(test::generate(runtime, requests())); });
    return result;
  }
  const config::Config base_ = test::default_config(test::golden_model("llama"));
  const config::Config config_ = with_adapters(base_);
};

TEST_F(AdapterInvarianceTest, BatchChunksAndRanksChangeNoBit) {
  std::vector<std::string> alone;
  config::Config config = config_;
  config.kv_cache.prefix_cache = false;
  test::with_cluster(config, 1, [&](RankRuntime& runtime) {
    for (const auto& request : requests()) alone.push_back(test::fingerprints(test::generate(runtime, {request}))[0]);
  });
  for (int num_ranks = 1; num_ranks <= 4; ++num_ranks) EXPECT_EQ(run(config_, num_ranks), alone) << num_ranks;
  config = config_;
  config.scheduler.max_step_tokens = 7;
  EXPECT_EQ(run(config, 2), alone) << "steps of 7 tokens";
}

TEST_F(AdapterInvarianceTest, ARowWithoutAdapterHasTheBitsOfAModelWithoutAny) {
  const auto mixed = run(config_, 1);
  test::with_cluster(base_, 1, [&](RankRuntime& runtime) {
    auto plain = requests();
    for (auto& request : plain) request.adapter = 0;
    const auto expected = test::fingerprints(test::generate(runtime, plain));
    for (std::size_t i = 0; i < mixed.size(); ++i) EXPECT_EQ(mixed[i] == expected[i], i % 3 == 0) << "request " << i;
  });
}

TEST_F(AdapterInvarianceTest, EqualPromptsShareTheirPrefixWithinAnAdapterOnly) {
  const std::vector<std::int32_t> prompt = test::golden_cases("llama").back().prompt_ids;
  ASSERT_GT(prompt.size(), 16u);
  test::with_cluster(config_, 1, [&](RankRuntime& runtime) {
    std::int64_t hits = 0;
    std::vector<std::string> first;
    for (const bool again : {false, true}) {
      for (std::uint32_t adapter = 0; adapter < 3; ++adapter) {
        scheduler::Request request = test::greedy(prompt, 8);
        request.adapter = adapter;
        request.sampling.num_logprobs = 3;
        const std::string text = test::fingerprints(test::generate(runtime, {request}))[0];
        const std::int64_t now = runtime.engine().stats()[0].prefix_hit_tokens;
        EXPECT_EQ(now > hits, again) << "adapter " << adapter;
        hits = now;
        if (again)
          EXPECT_EQ(text, first[adapter]);
        else
          first.push_back(text);
      }
    }
  });
}

TEST_F(AdapterInvarianceTest, ANumberWithoutAnAdapterIsRefused) {
  test::with_cluster(config_, 1, [](RankRuntime& runtime) {
    scheduler::Request request = test::greedy({1, 2, 3}, 4);
    request.adapter = 3;
    const auto id = runtime.engine().submit(request, {}, std::chrono::steady_clock::now());
    ASSERT_FALSE(id);
    EXPECT_NE(id.error().message.find("adapter"), std::string::npos) << id.error().message;
  });
}

}  // namespace
}  // namespace trireme::engine
