// Whole pipelines over MPI: golden tokens, and the same bits as one rank in process, for any division of the ranks.
#include <gtest/gtest.h>

#include "tests/support/cluster.h"
#include "tests/support/fingerprint.h"
#include "tests/support/golden.h"
#include "tests/support/ranks.h"

namespace trireme::engine {
namespace {

class EngineMpiTest : public testing::TestWithParam<std::string> {
 protected:
  void run_over_mpi(const config::Config& config, const std::function<void(RankRuntime&)>& body) {
    const int num_ranks = test::rank_counts().front();
    test::for_each_rank(num_ranks,
                        [&](parallel::Communicator& communicator) { test::run_rank(config, communicator, body); });
  }
};

TEST_P(EngineMpiTest, GivesTheGoldenTokens) {
  const auto cases = test::golden_cases(GetParam());
  std::vector<scheduler::Request> requests;
  for (const auto& golden : cases) requests.push_back(test::greedy(golden.prompt_ids, 16));
  run_over_mpi(test::exact_config(test::golden_model(GetParam())), [&](RankRuntime& runtime) {
    const auto outputs = test::generate(runtime, requests);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      auto ids = outputs[i][0].token_ids();
      auto expected = cases[i].greedy_ids;
      const std::size_t certain = test::certain_tokens(cases[i], 1e-2f);
      ids.resize(certain);
      expected.resize(certain);
      EXPECT_EQ(ids, expected);
    }
  });
}

TEST_P(EngineMpiTest, GivesTheBitsOfOneRankAlone) {
  const auto requests = test::mixed_requests();
  config::Config config = test::default_config(test::golden_model(GetParam()));
  std::vector<std::string> alone;
  test::with_cluster(config, 1,
                     [&](RankRuntime& runtime) { alone = test::fingerprints(test::generate(runtime, requests)); });
  const int num_ranks = test::rank_counts().front();
  for (int replicas = 1; replicas <= num_ranks; ++replicas) {
    if (num_ranks % replicas != 0) continue;
    config.pipeline.replicas = replicas;
    run_over_mpi(config, [&](RankRuntime& runtime) {
      EXPECT_EQ(test::fingerprints(test::generate(runtime, requests)), alone) << replicas << " replicas";
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EngineMpiTest, testing::Values("llama", "gemma3"));

}  // namespace
}  // namespace trireme::engine
