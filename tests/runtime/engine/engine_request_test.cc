// What one request can ask for, through a whole pipeline.
#include <gtest/gtest.h>

#include "tests/support/cluster.h"
#include "tests/support/fingerprint.h"
#include "tests/support/golden.h"

namespace trireme::engine {
namespace {

using scheduler::FinishReason;

class EngineRequestTest : public testing::Test {
 protected:
  std::vector<Generation> run(const scheduler::Request& request, int num_ranks = 2) {
    std::vector<Generation> output;
    test::with_cluster(config_, num_ranks,
                       [&](RankRuntime& runtime) { output = test::generate(runtime, {request})[0]; });
    return output;
  }
  const std::vector<std::int32_t> prompt_ = test::golden_cases("llama")[0].prompt_ids;
  config::Config config_ = test::exact_config(test::golden_model("llama"));
};

TEST_F(EngineRequestTest, ChoicesDifferAndEachIsWhatItsIndexGives) {
  scheduler::Request request = test::greedy(prompt_, 12);
  request.sampling.temperature = 1.5f;
  request.sampling.seed = 99;
  request.num_choices = 3;
  const auto three = run(request);
  EXPECT_NE(three[0].token_ids(), three[1].token_ids());
  EXPECT_NE(three[1].token_ids(), three[2].token_ids());
  request.num_choices = 1;
  EXPECT_EQ(test::fingerprint(run(request)[0]), test::fingerprint(three[0]));
}

TEST_F(EngineRequestTest, AStopTokenEndsTheOutputAndIsNoText) {
  scheduler::Request request = test::greedy(prompt_, 12);
  const auto whole = run(request)[0];
  request.stop_token_ids = {whole.token_ids()[4]};
  const auto stopped = run(request)[0];
  EXPECT_EQ(stopped.finish_reason, FinishReason::kStop);
  EXPECT_LE(stopped.tokens.size(), 5u);
  EXPECT_EQ(stopped.token_ids().back(), whole.token_ids()[4]);
  EXPECT_TRUE(whole.text.starts_with(stopped.text));
}

TEST_F(EngineRequestTest, AStopStringEndsTheTextJustBeforeIt) {
  scheduler::Request request = test::greedy(prompt_, 12);
  const std::string text = run(request)[0].text;
  ASSERT_GT(text.size(), 6u);
  request.stop = {text.substr(5, 2)};
  const auto stopped = run(request)[0];
  EXPECT_EQ(stopped.finish_reason, FinishReason::kStop);
  EXPECT_EQ(stopped.text, text.substr(0, text.find(request.stop[0])));
}

TEST_F(EngineRequestTest, NoTokensIsOnlyScoring) {
  scheduler::Request request = test::greedy(prompt_, 0);
  request.prompt_logprobs = true;
  const auto scored = run(request)[0];
  EXPECT_TRUE(scored.tokens.empty());
  EXPECT_EQ(scored.finish_reason, FinishReason::kLength);
  EXPECT_EQ(scored.prompt_logprobs.size(), prompt_.size() - 1);
}

TEST_F(EngineRequestTest, WhatCanNeverFitIsRefusedAndTheNextRequestIsServed) {
  test::with_cluster(config_, 2, [&](RankRuntime& runtime) {
    const auto refused = runtime.engine().submit(test::greedy(std::vector<std::int32_t>(5000, 1), 4), {}, {});
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(test::generate(runtime, {test::greedy(prompt_, 3)})[0][0].tokens.size(), 3u);
  });
}

TEST_F(EngineRequestTest, CancelEndsTheWorkAndFreesTheBlocks) {
  test::with_cluster(config_, 2, [&](RankRuntime& runtime) {
    int events = 0;
    const auto id = runtime.engine().submit(
        test::greedy(prompt_, 100), [&](const GenerationEvent&) { ++events; }, std::chrono::steady_clock::now());
    ASSERT_TRUE(id.ok());
    while (events < 3) runtime.pump();
    runtime.engine().cancel(*id);
    while (!runtime.engine().idle()) runtime.pump();
    EXPECT_EQ(events, 3);
    const auto stats = runtime.engine().stats()[0];
    EXPECT_EQ(stats.free_blocks, stats.total_blocks);
  });
}

TEST_F(EngineRequestTest, AStartUpErrorIsOneMessageForAllRanks) {
  config_.model.path = test::golden_model("no-such-model");
  try {
    test::with_cluster(config_, 3, [](RankRuntime&) {});
    FAIL() << "started without a model";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("ranks 0-2: "), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("no-such-model"), std::string::npos);
  }
}

}  // namespace
}  // namespace trireme::engine
