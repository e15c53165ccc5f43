#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "parallel/plan_broadcast.h"
#include "parallel/result_return.h"
#include "tests/parallel/bytes.h"
#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using test::for_each_rank;
using test::make_bytes;
using test::poll_until;
using test::with_compute_thread;

constexpr std::uint32_t kEpoch = 3;
constexpr int kSteps = 25;

std::size_t plan_size(int step) {
  return static_cast<std::size_t>(step * step * 170);
}

class PlanAndResultTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, PlanAndResultTest, testing::ValuesIn(test::rank_counts()));

// Every rank, rank 0 too, answers each plan from its compute thread; rank 0 sends all plans without waiting.
void serve_plans(MessageLoop& loop, int rank) {
  ControlReceiver plans(loop, 0, Tag::kPlan, kEpoch);
  ResultSender results(loop, kEpoch);
  for (int step = 0; step < kSteps; ++step) {
    EXPECT_EQ(plans.receive(), make_bytes(plan_size(step), step));
    results.send(make_bytes(static_cast<std::size_t>(step * 40), 100 * rank + step));
  }
  while (!results.all_sent()) std::this_thread::yield();
}

void lead(MessageLoop& loop, std::span<const int> ranks) {
  PlanBroadcast plans(loop, ranks, kEpoch);
  ResultCollector results(loop, kEpoch);
  for (int step = 0; step < kSteps; ++step) plans.send(make_bytes(plan_size(step), step));
  std::map<int, int> next_step;
  for (int received = 0; received < kSteps * static_cast<int>(ranks.size()); ++received) {
    std::optional<ResultCollector::Result> result;
    poll_until(loop, [&] { return (result = results.try_receive()).has_value(); });
    const int step = next_step[result->rank]++;
    EXPECT_EQ(result->bytes, make_bytes(static_cast<std::size_t>(step * 40), 100 * result->rank + step));
  }
  poll_until(loop, [&] { return plans.all_sent(); });
}

TEST_P(PlanAndResultTest, PlansReachAllRanksAndTheirResultsComeBackInOrder) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    MessageLoop loop(communicator);
    std::vector<int> ranks(static_cast<std::size_t>(communicator.size()));
    std::iota(ranks.begin(), ranks.end(), 0);
    if (communicator.rank() != 0) {
      with_compute_thread(loop, [&] { serve_plans(loop, communicator.rank()); });
      return;
    }
    std::thread compute([&] { serve_plans(loop, 0); });
    lead(loop, ranks);
    compute.join();
  });
}

}  // namespace
}  // namespace trireme::parallel
