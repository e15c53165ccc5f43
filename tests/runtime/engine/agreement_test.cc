#include "runtime/engine/agreement.h"

#include <gtest/gtest.h>

#include <new>
#include <thread>

#include "parallel/in_process_communicator.h"

namespace trireme::engine {
namespace {

// agree() on every rank, rank r with statuses[r].
std::vector<base::Status> agree_all(const std::vector<base::Status>& statuses) {
  auto communicators = parallel::make_in_process_communicators(static_cast<int>(statuses.size()));
  std::vector<base::Status> results(statuses.size(), base::ok_status());
  std::vector<std::thread> ranks;
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    ranks.emplace_back([&, rank] { results[rank] = agree(*communicators[rank], statuses[rank]); });
  }
  for (std::thread& thread : ranks) thread.join();
  return results;
}

TEST(Agreement, HoldsWhereAllRanksAreWell) {
  for (const auto& result : agree_all({base::ok_status(), base::ok_status(), base::ok_status()}))
    EXPECT_TRUE(result.ok());
}

TEST(Agreement, OneFailureIsEveryonesAndNamesTheRank) {
  for (const auto& result : agree_all({base::ok_status(), base::not_found("no file x"), base::ok_status()})) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().message, "rank 1: no file x");
  }
}

TEST(Agreement, EqualFailuresAreOneMessage) {
  const base::Status bad = base::not_found("no file x");
  for (const auto& result : agree_all({bad, bad, base::unsupported("odd"), bad})) {
    EXPECT_EQ(result.error().message, "ranks 0-1,3: no file x; rank 2: odd");
  }
}

TEST(Agreement, TheLowestFailingRanksCodeIsEveryones) {
  const auto results = agree_all({base::ok_status(), base::resource_exhausted("full"), base::unsupported("odd")});
  for (const auto& result : results) EXPECT_EQ(result.error().code, base::ErrorCode::kResourceExhausted);
}

TEST(Agreement, OneRankAloneIsNotNamed) {
  EXPECT_EQ(agree_all({base::not_found("x")})[0].error().message, "x");
}

TEST(Agreement, ExceptionsBecomeErrors) {
  EXPECT_TRUE(attempt([] { return base::ok_status(); }).ok());
  EXPECT_EQ(attempt([]() -> base::Status { throw std::bad_alloc(); }).error().code,
            base::ErrorCode::kResourceExhausted);
  EXPECT_EQ(attempt([]() -> base::Status { throw std::runtime_error("broken"); }).error().message, "broken");
}

TEST(Agreement, FactsComeInTheOrderOfRanks) {
  auto communicators = parallel::make_in_process_communicators(3);
  std::vector<std::vector<int>> gathered(3);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    ranks.emplace_back([&, r, rank] { gathered[r] = gather(*communicators[r], rank * 10); });
  }
  for (std::thread& thread : ranks) thread.join();
  for (const auto& facts : gathered) EXPECT_EQ(facts, (std::vector<int>{0, 10, 20}));
}

}  // namespace
}  // namespace trireme::engine
