#include "launch/config_agreement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "parallel/in_process_communicator.h"
#include "tests/support/temporary_folder.h"

namespace trireme::launch {
namespace {

using Outcome = base::Result<config::ResolvedConfig>;
using Environment = std::map<std::string, std::string>;

// Every rank's outcome; ranks are threads.
std::vector<Outcome> agree(int num_ranks, const CommandLine& line, const std::function<Environment(int)>& environment) {
  const auto communicators = parallel::make_in_process_communicators(num_ranks);
  std::vector<std::optional<Outcome>> outcomes(static_cast<std::size_t>(num_ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < num_ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto index = static_cast<std::size_t>(rank);
      outcomes[index] = agree_on_config(*communicators[index], line, environment(rank));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<Outcome> results;
  for (std::optional<Outcome>& outcome : outcomes) results.push_back(std::move(*outcome));
  return results;
}

class ConfigAgreement : public testing::TestWithParam<int> {
 protected:
  CommandLine with_file(const std::string& text) const {
    CommandLine line;
    line.config_path = folder_.write("test.yaml", text);
    return line;
  }

  const test::TemporaryFolder folder_;
};

TEST_P(ConfigAgreement, GivesAllRanksTheFileOfRank0) {
  const CommandLine line = with_file("device: {threads: 3}");
  for (const Outcome& outcome : agree(GetParam(), line, [](int) { return Environment{}; })) {
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->config.device.threads, 3);
  }
}

TEST_P(ConfigAgreement, RefusesABadFileOnAllRanks) {
  const CommandLine line = with_file("device: {threads: three}");
  for (const Outcome& outcome : agree(GetParam(), line, [](int) { return Environment{}; })) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.error().message, testing::HasSubstr("test.yaml:1:19: device.threads 'three'"));
  }
}

TEST_P(ConfigAgreement, RefusesAMissingFileAndAFolder) {
  for (const char* path : {"missing.yaml", "."}) {
    CommandLine line;
    line.config_path = folder_ / path;
    for (const Outcome& outcome : agree(GetParam(), line, [](int) { return Environment{}; })) {
      ASSERT_FALSE(outcome.ok()) << path;
      EXPECT_THAT(outcome.error().message, testing::StartsWith(line.config_path));
    }
  }
}

TEST_P(ConfigAgreement, NamesRankAndKeyThatDiffer) {
  const int last = GetParam() - 1;
  const auto environment = [last](int rank) {
    return rank == last && last > 0 ? Environment{{"TRIREME_KV_CACHE_VALUE", "fp16"}} : Environment{};
  };
  for (const Outcome& outcome : agree(GetParam(), {}, environment)) {
    ASSERT_EQ(outcome.ok(), last == 0);
    if (last == 0) continue;
    EXPECT_THAT(outcome.error().message,
                testing::StartsWith("rank " + std::to_string(last) + " has kv_cache.value: fp16, rank 0 has int8"));
  }
}

TEST_P(ConfigAgreement, NamesTheRankWhoseEnvironmentIsBad) {
  const int last = GetParam() - 1;
  const auto environment = [last](int rank) {
    return rank == last ? Environment{{"TRIREME_DEVICE_THREADS", "0"}} : Environment{};
  };
  const std::string expected = (last > 0 ? "rank " + std::to_string(last) + ": " : "") + "TRIREME_DEVICE_THREADS: ";
  for (const Outcome& outcome : agree(GetParam(), {}, environment)) {
    ASSERT_FALSE(outcome.ok());
    EXPECT_THAT(outcome.error().message, testing::StartsWith(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, ConfigAgreement, testing::Values(1, 2, 4));

}  // namespace
}  // namespace trireme::launch
