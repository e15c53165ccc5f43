#include "scheduler/request_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace trireme::scheduler {
namespace {

std::shared_ptr<const Request> request_of(std::uint64_t id, std::size_t prompt_length = 1) {
  auto request = std::make_shared<Request>();
  request->id = RequestId{id};
  request->prompt.assign(prompt_length, 0);
  return request;
}

TEST(RequestQueueTest, HandsOverInOrderOfArrival) {
  RequestQueue queue({});
  ASSERT_TRUE(queue.push(request_of(1)).ok());
  ASSERT_TRUE(queue.push(request_of(2)).ok());
  const RequestQueue::Batch batch = queue.take();
  ASSERT_EQ(batch.requests.size(), 2u);
  EXPECT_EQ(batch.requests[0]->id, RequestId{1});
  EXPECT_EQ(batch.requests[1]->id, RequestId{2});
  EXPECT_TRUE(queue.take().requests.empty());
}

TEST(RequestQueueTest, RefusesAtOnceWhenFullAndTakesAgainWhenEmptied) {
  RequestQueue queue({.max_requests = 1});
  ASSERT_TRUE(queue.push(request_of(1)).ok());
  const base::Status refused = queue.push(request_of(2));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::ErrorCode::kResourceExhausted);
  EXPECT_NE(refused.error().message.find("max_requests"), std::string::npos);
  const RequestQueue::Batch taken = queue.take();
  EXPECT_FALSE(queue.push(request_of(2)).ok()) << "what was taken still waits for the engine";
  queue.leave(*taken.requests.front());
  EXPECT_TRUE(queue.push(request_of(2)).ok());
}

TEST(RequestQueueTest, LimitsThePromptTokensThatWait) {
  RequestQueue queue({.max_requests = 10, .max_tokens = 10});
  ASSERT_TRUE(queue.push(request_of(1, 8)).ok());
  const base::Status refused = queue.push(request_of(2, 3));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("max_tokens"), std::string::npos);
  EXPECT_TRUE(queue.push(request_of(3, 2)).ok());
  for (const auto& request : queue.take().requests) queue.leave(*request);
  EXPECT_TRUE(queue.push(request_of(4, 10)).ok());
}

std::shared_ptr<const Request> request_of_tenant(std::uint64_t id, const std::string& tenant) {
  auto request = std::make_shared<Request>(*request_of(id));
  request->tenant = tenant;
  return request;
}

TEST(RequestQueueTest, LeavesPlacesForOtherTenantsWhenOneFloods) {
  RequestQueue queue({.max_requests = 100, .several_tenants = true});
  std::uint64_t num_taken = 0;
  while (queue.push(request_of_tenant(num_taken, "flood")).ok()) ++num_taken;
  EXPECT_EQ(num_taken, 50u);
  std::uint64_t num_others = 0;
  while (queue.push(request_of_tenant(1000 + num_others, "other")).ok()) ++num_others;
  EXPECT_EQ(num_others, 25u);
  EXPECT_TRUE(queue.push(request_of_tenant(2000, "third")).ok());
}

TEST(RequestQueueTest, GivesASingleTenantAllPlaces) {
  RequestQueue queue({.max_requests = 100});
  std::uint64_t num_taken = 0;
  while (queue.push(request_of_tenant(num_taken, "only")).ok()) ++num_taken;
  EXPECT_EQ(num_taken, 100u);
}

TEST(RequestQueueTest, DropsACancelledRequestThatStillWaits) {
  RequestQueue queue({.max_requests = 1});
  ASSERT_TRUE(queue.push(request_of(1)).ok());
  EXPECT_TRUE(queue.cancel(RequestId{1}));
  EXPECT_EQ(queue.load().num_requests, 0u);
  const RequestQueue::Batch batch = queue.take();
  EXPECT_TRUE(batch.requests.empty());
  EXPECT_TRUE(batch.cancelled.empty());
}

TEST(RequestQueueTest, PassesOnTheCancelOfARequestThatWasTaken) {
  RequestQueue queue({});
  ASSERT_TRUE(queue.push(request_of(1)).ok());
  queue.take();
  EXPECT_FALSE(queue.cancel(RequestId{1}));
  EXPECT_EQ(queue.take().cancelled, std::vector<RequestId>{RequestId{1}});
}

TEST(RequestQueueTest, ClosedRefusesButStillGivesWhatWaits) {
  RequestQueue queue({});
  ASSERT_TRUE(queue.push(request_of(1)).ok());
  queue.close();
  EXPECT_FALSE(queue.push(request_of(2)).ok());
  EXPECT_EQ(queue.take().requests.size(), 1u);
  queue.wait_until(TimePoint::max());  // returns: nothing will come any more
}

TEST(RequestQueueTest, LosesNothingBetweenThreads) {
  constexpr std::uint64_t kThreads = 4, kEach = 500;
  RequestQueue queue({.max_requests = 16});
  std::vector<std::thread> servers;
  for (std::uint64_t t = 0; t < kThreads; ++t) {
    servers.emplace_back([&queue, t] {
      for (std::uint64_t i = 0; i < kEach; ++i) {
        while (!queue.push(request_of(t * kEach + i)).ok()) std::this_thread::yield();
      }
    });
  }
  std::vector<std::uint64_t> next(kThreads, 0);
  for (std::uint64_t taken = 0; taken < kThreads * kEach;) {
    queue.wait_until(std::chrono::steady_clock::now() + std::chrono::seconds(10));
    for (const auto& request : queue.take().requests) {
      queue.leave(*request);
      EXPECT_EQ(request->id.value % kEach, next[request->id.value / kEach]++);
      ++taken;
    }
  }
  for (std::thread& server : servers) server.join();
  EXPECT_EQ(queue.load().num_requests, 0u);
}

}  // namespace
}  // namespace trireme::scheduler
