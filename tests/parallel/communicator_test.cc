#include "parallel/communicator.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "parallel/error.h"
#include "tests/parallel/bytes.h"
#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using test::for_each_rank;
using test::make_bytes;

void finish(Communicator::Operation& operation) {
  while (!operation.test()) std::this_thread::yield();
}

class CommunicatorTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CommunicatorTest, testing::ValuesIn(test::rank_counts()));

TEST_P(CommunicatorTest, EveryPairOfRanksExchangesMessages) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    constexpr std::size_t kBytes = 70'000;
    std::vector<std::vector<std::byte>> out, in;
    std::vector<std::unique_ptr<Communicator::Operation>> operations;
    for (int peer = 0; peer < communicator.size(); ++peer) {
      in.emplace_back(kBytes);
      out.push_back(make_bytes(kBytes, communicator.rank() * 10 + peer));
    }
    for (int peer = 0; peer < communicator.size(); ++peer) {
      const auto i = static_cast<std::size_t>(peer);
      operations.push_back(communicator.irecv(in[i], peer, Tag::kPlan));
      operations.push_back(communicator.isend(out[i], peer, Tag::kPlan));
    }
    for (auto& operation : operations) finish(*operation);
    for (int peer = 0; peer < communicator.size(); ++peer) {
      EXPECT_EQ(in[static_cast<std::size_t>(peer)], make_bytes(kBytes, peer * 10 + communicator.rank()));
    }
  });
}

TEST_P(CommunicatorTest, MessagesOfOneTagArriveInOrderAndTagsAreApart) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    const int next = (communicator.rank() + 1) % communicator.size();
    const int previous = (communicator.rank() + communicator.size() - 1) % communicator.size();
    const std::vector<std::byte> first = make_bytes(8, 1), second = make_bytes(5, 2), other = make_bytes(8, 3);
    std::vector<std::unique_ptr<Communicator::Operation>> sends;
    sends.push_back(communicator.isend(first, next, Tag::kPlan));
    sends.push_back(communicator.isend(other, next, Tag::kResult));
    sends.push_back(communicator.isend(second, next, Tag::kPlan));

    std::vector<std::byte> a(8), b(8), c(8);
    auto receive_c = communicator.irecv(c, previous, Tag::kResult);
    auto receive_a = communicator.irecv(a, previous, Tag::kPlan);
    auto receive_b = communicator.irecv(b, previous, Tag::kPlan);
    finish(*receive_b);  // tested before its predecessor, which must match first all the same
    finish(*receive_a);
    finish(*receive_c);
    for (auto& send : sends) finish(*send);
    EXPECT_EQ(a, first);
    EXPECT_EQ(c, other);
    EXPECT_EQ(receive_b->received_bytes(), 5u);
    b.resize(5);
    EXPECT_EQ(b, second);
  });
}

// Open MPI itself writes past the end of the buffer, or cuts silently.
TEST_P(CommunicatorTest, MessageLongerThanItsBufferIsAnErrorAndWritesNothingBeyond) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    const int next = (communicator.rank() + 1) % communicator.size();
    const int previous = (communicator.rank() + communicator.size() - 1) % communicator.size();
    for (const int peer_distance : {0, 1}) {
      for (const std::size_t size : {std::size_t{16}, std::size_t{100'000}}) {
        const std::vector<std::byte> message = make_bytes(size, 1);
        std::vector<std::byte> buffer(size);
        auto receive = communicator.irecv(std::span(buffer).first(8),
                                          peer_distance == 0 ? communicator.rank() : previous, Tag::kPlan);
        auto send = communicator.isend(message, peer_distance == 0 ? communicator.rank() : next, Tag::kPlan);
        EXPECT_THROW(finish(*receive), ParallelError);
        finish(*send);
        for (std::size_t i = 8; i < size; ++i) ASSERT_EQ(buffer[i], std::byte{0}) << i;
      }
    }
  });
}

TEST_P(CommunicatorTest, DestroyedReceiveTakesNoMessage) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    std::vector<std::byte> withdrawn(8), buffer(8);
    communicator.irecv(withdrawn, communicator.rank(), Tag::kPlan).reset();
    const std::vector<std::byte> message = make_bytes(8, 1);
    auto send = communicator.isend(message, communicator.rank(), Tag::kPlan);
    auto receive = communicator.irecv(buffer, communicator.rank(), Tag::kPlan);
    finish(*receive);
    finish(*send);
    EXPECT_EQ(buffer, message);
    EXPECT_EQ(withdrawn, std::vector<std::byte>(8));
  });
}

TEST_P(CommunicatorTest, BroadcastReachesAllFromEveryRoot) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    for (int root = 0; root < communicator.size(); ++root) {
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{200'000}}) {
        const auto expected = make_bytes(size, root);
        EXPECT_EQ(communicator.broadcast(communicator.rank() == root ? expected : make_bytes(3, 99), root), expected);
      }
    }
  });
}

TEST_P(CommunicatorTest, AllGatherKeepsLengthsThatDiffer) {
  for_each_rank(GetParam(), [](Communicator& communicator) {
    const auto size_of = [](int rank) { return static_cast<std::size_t>(rank * 1000); };
    const auto parts = communicator.all_gather(make_bytes(size_of(communicator.rank()), communicator.rank()));
    ASSERT_EQ(parts.size(), static_cast<std::size_t>(communicator.size()));
    for (int rank = 0; rank < communicator.size(); ++rank) {
      EXPECT_EQ(parts[static_cast<std::size_t>(rank)], make_bytes(size_of(rank), rank));
    }
  });
}

TEST_P(CommunicatorTest, BarrierWaitsForTheLastRank) {
  std::atomic<int> arrived = 0;
  for_each_rank(GetParam(), [&](Communicator& communicator) {
    if (communicator.rank() == communicator.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++arrived;
    communicator.barrier();
    const int ranks_here = static_cast<int>(test::rank_counts().size()) > 1 ? communicator.size() : 1;
    EXPECT_EQ(arrived, ranks_here);
  });
}

}  // namespace
}  // namespace trireme::parallel
