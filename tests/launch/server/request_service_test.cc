// The service in front of a real engine: what endpoints' threads see of it.
#include "launch/server/core/request_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "tests/launch/server/serving_thread.h"

namespace trireme::server {
namespace {

using engine::Generation;
using scheduler::FinishReason;
using std::chrono::milliseconds;
using testing::HasSubstr;

Submission submission_of(scheduler::Request request) {
  Submission submission;
  submission.request = std::move(request);
  return submission;
}

// Takes the engine some time.
scheduler::Request long_request() {
  scheduler::Request request = test::greedy({1, 2, 3}, 250);
  request.num_choices = 16;
  return request;
}

struct Answered {
  std::vector<Generation> choices;
  StreamEnd end;
};

// Reads to the end, by polling.
Answered read(ActiveRequest& active, std::int32_t num_choices = 16) {
  Answered answered;
  answered.choices.resize(static_cast<std::size_t>(num_choices));
  while (true) {
    const TokenStream::Batch batch = active.take();
    for (const EventPtr& event : batch.events) answered.choices[event->choice_index].add(*event);
    if (batch.end) {
      answered.end = *batch.end;
      return answered;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
}

Answered ask(RequestService& service, Submission submission) {
  const std::int32_t num_choices = submission.request.num_choices;
  auto taken = service.submit(std::move(submission));
  return read(std::get<ActiveRequest>(taken), num_choices);
}

template <typename Condition>
bool holds_soon(Condition condition) {
  for (int i = 0; i < 2000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return false;
}

bool all_is_free(const ServiceStats& stats) {
  if (stats.num_running + stats.num_waiting > 0) return false;
  for (const auto& replica : stats.replicas) {
    if (replica.free_blocks != replica.total_blocks || replica.num_running + replica.num_waiting > 0) return false;
  }
  return !stats.replicas.empty();
}

class RequestServiceTest : public testing::TestWithParam<int> {
 protected:
  static config::Config config() { return test::default_config(test_model()); }
};

TEST_P(RequestServiceTest, AnswersAsTheEngineAloneDoes) {
  const std::vector<scheduler::Request> requests = test::mixed_requests();
  std::vector<std::vector<Generation>> expected;
  test::with_cluster(config(), 1, [&](engine::RankRuntime& runtime) { expected = test::generate(runtime, requests); });
  ServingThread serving(config(), {}, GetParam());
  std::vector<ActiveRequest> active;
  for (const scheduler::Request& request : requests) {
    auto taken = serving.service().submit(submission_of(request));
    active.push_back(std::get<ActiveRequest>(std::move(taken)));
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const Answered answered = read(active[i]);
    EXPECT_EQ(answered.end.kind, StreamEnd::Kind::kComplete);
    EXPECT_EQ(answered.choices.front().token_ids(), expected[i].front().token_ids()) << i;
    EXPECT_EQ(answered.choices.front().text, expected[i].front().text) << i;
    EXPECT_EQ(answered.choices.front().prompt_logprobs, expected[i].front().prompt_logprobs) << i;
  }
  EXPECT_TRUE(holds_soon([&] { return all_is_free(serving.service().stats()); }));
}

TEST_P(RequestServiceTest, ACancelledRequestFreesItsBlocks) {
  ServingThread serving(config(), {}, GetParam());
  for (int i = 0; i < 20; ++i) {
    auto taken = serving.service().submit(submission_of(long_request()));
    ActiveRequest& active = std::get<ActiveRequest>(taken);
    if (i % 2 == 0) {  // after its first token
      ASSERT_TRUE(holds_soon([&] { return !active.take().events.empty(); }));
    }
    active.cancel();
  }
  EXPECT_TRUE(holds_soon([&] { return all_is_free(serving.service().stats()); }));
}

INSTANTIATE_TEST_SUITE_P(Ranks, RequestServiceTest, testing::Values(1, 2, 3));

TEST_F(RequestServiceTest, RefusesWhatCanNeverFitAtOnce) {
  ServingThread serving(config());
  const auto taken = serving.service().submit(submission_of(test::greedy(std::vector<int>(100'000, 1), 1)));
  ASSERT_TRUE(std::holds_alternative<Refusal>(taken));
  EXPECT_EQ(std::get<Refusal>(taken).kind, Refusal::Kind::kInvalid);
  EXPECT_THAT(std::get<Refusal>(taken).message, HasSubstr("max_context"));
}

TEST_F(RequestServiceTest, RefusesAtOnceWhenTheQueueIsFullAndTakesAgainLater) {
  config::Config small = config();
  small.server.max_waiting = 4;
  small.scheduler.max_batch = 1;
  ServingThread serving(small);
  std::vector<ActiveRequest> active;
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    auto taken = serving.service().submit(submission_of(test::greedy({1, 2, i + 3}, 30)));
    if (const auto* refusal = std::get_if<Refusal>(&taken)) {
      EXPECT_EQ(refusal->kind, Refusal::Kind::kOverloaded);
      EXPECT_GT(refusal->retry_after.count(), 0);
      ++refused;
    } else {
      active.push_back(std::get<ActiveRequest>(std::move(taken)));
    }
  }
  EXPECT_GE(refused, 20);
  for (ActiveRequest& request : active) EXPECT_EQ(read(request).choices.front().tokens.size(), 30u);
  EXPECT_EQ(ask(serving.service(), submission_of(test::greedy({7}, 3))).choices.front().tokens.size(), 3u);
}

TEST_F(RequestServiceTest, DropsAReaderThatDoesNotKeepUpAndNoOther) {
  config::Config small = config();
  small.server.stream_buffer_bytes = 4096;
  ServingThread serving(small);
  auto slow = serving.service().submit(submission_of(long_request()));
  const Answered other = ask(serving.service(), submission_of(test::greedy({4, 5}, 240)));
  EXPECT_EQ(other.end.kind, StreamEnd::Kind::kComplete);
  EXPECT_EQ(other.choices.front().tokens.size(), 240u);
  EXPECT_EQ(read(std::get<ActiveRequest>(slow)).end.kind, StreamEnd::Kind::kTooSlow);
  EXPECT_TRUE(holds_soon([&] { return all_is_free(serving.service().stats()); }));
}

TEST_F(RequestServiceTest, AnswersEqualDeterminedRequestsFromTheCache) {
  ServingThread serving(config());
  Submission submission = submission_of(test::greedy({1, 2, 3}, 20));
  submission.determined = true;
  auto first = serving.service().submit(submission);
  EXPECT_FALSE(std::get<ActiveRequest>(first).from_response_cache());
  const Answered answer = read(std::get<ActiveRequest>(first));
  auto second = serving.service().submit(submission);
  EXPECT_TRUE(std::get<ActiveRequest>(second).from_response_cache());
  const Answered again = read(std::get<ActiveRequest>(second));
  EXPECT_EQ(again.choices.front().token_ids(), answer.choices.front().token_ids());
  EXPECT_EQ(again.choices.front().text, answer.choices.front().text);
  submission.request.tenant = "other";
  auto others = serving.service().submit(submission);
  EXPECT_FALSE(std::get<ActiveRequest>(others).from_response_cache());
}

TEST_F(RequestServiceTest, ReportsADeadlineThatPassedInTheQueue) {
  config::Config small = config();
  small.scheduler.max_batch = 1;
  ServingThread serving(small);
  auto running = serving.service().submit(submission_of(long_request()));
  scheduler::Request late = test::greedy({4}, 5);
  late.deadline = RequestService::Clock::now() + milliseconds(1);
  const Answered answered = ask(serving.service(), submission_of(late));
  EXPECT_EQ(answered.choices.front().finish_reason, FinishReason::kDeadline);
  EXPECT_TRUE(answered.choices.front().tokens.empty());
}

TEST_F(RequestServiceTest, ADialogueKeepsItsBlocksBetweenTurnsAndGivesThemBackAtItsEnd) {
  ServingThread serving(config());
  RequestService& service = serving.service();
  const auto dialogue = service.begin_dialogue("");
  ASSERT_TRUE(dialogue.ok());
  const auto turn = [&](std::vector<int> prompt, const std::string& id) {
    Submission submission = submission_of(test::greedy(std::move(prompt), 4));
    submission.dialogue = id;
    return submission;
  };
  const std::vector<int> prompt(40, 5);
  EXPECT_EQ(ask(service, turn(prompt, *dialogue)).end.cached_tokens, 0);
  EXPECT_GE(ask(service, turn(prompt, *dialogue)).end.cached_tokens, 32);
  EXPECT_EQ(ask(service, submission_of(test::greedy(prompt, 4))).end.cached_tokens, 0) << "others do not share them";
  ASSERT_TRUE(service.end_dialogue("", *dialogue).ok());
  const auto over = service.submit(turn(prompt, *dialogue));
  ASSERT_TRUE(std::holds_alternative<Refusal>(over));
  EXPECT_EQ(std::get<Refusal>(over).kind, Refusal::Kind::kNotFound);
}

TEST_F(RequestServiceTest, TheEndOfADialogueEndsWhatRunsInIt) {
  ServingThread serving(config());
  const auto dialogue = serving.service().begin_dialogue("");
  Submission submission = submission_of(long_request());
  submission.dialogue = *dialogue;
  auto taken = serving.service().submit(std::move(submission));
  ASSERT_TRUE(serving.service().end_dialogue("", *dialogue).ok());
  EXPECT_EQ(read(std::get<ActiveRequest>(taken)).end.kind, StreamEnd::Kind::kCancelled);
  EXPECT_TRUE(holds_soon([&] { return all_is_free(serving.service().stats()); }));
}

TEST_F(RequestServiceTest, DrainsWhatRunsAndTakesNothingNew) {
  ServingThread serving(config());
  auto running = serving.service().submit(submission_of(test::greedy({1, 2, 3}, 100)));
  serving.signal();
  ASSERT_TRUE(holds_soon([&] { return serving.service().draining(); }));
  const auto refused = serving.service().submit(submission_of(test::greedy({4}, 5)));
  ASSERT_TRUE(std::holds_alternative<Refusal>(refused));
  EXPECT_EQ(std::get<Refusal>(refused).kind, Refusal::Kind::kShuttingDown);
  EXPECT_EQ(read(std::get<ActiveRequest>(running)).choices.front().tokens.size(), 100u);
  std::get<ActiveRequest>(running) = {};
  EXPECT_EQ(serving.join(), StopKind::kDrained);
}

TEST_F(RequestServiceTest, EndsWhatTakesLongerThanTheDrainLimit) {
  config::Config impatient = config();
  impatient.server.drain_limit_ms = 1;
  ServingThread serving(impatient);
  auto running = serving.service().submit(submission_of(long_request()));
  serving.signal();
  EXPECT_EQ(read(std::get<ActiveRequest>(running)).end.kind, StreamEnd::Kind::kShutdown);
  std::get<ActiveRequest>(running) = {};
  EXPECT_EQ(serving.join(), StopKind::kDrained);
}

TEST_F(RequestServiceTest, ASecondSignalEndsAtOnce) {
  ServingThread serving(config());
  auto running = serving.service().submit(submission_of(long_request()));
  serving.signal();
  serving.signal();
  EXPECT_EQ(read(std::get<ActiveRequest>(running)).end.kind, StreamEnd::Kind::kShutdown);
  std::get<ActiveRequest>(running) = {};
  EXPECT_EQ(serving.join(), StopKind::kForced);
}

TEST_F(RequestServiceTest, ManyThreadsSubmitReadAndCancel) {
  ServingThread serving(config(), {}, 2);
  const std::vector<int> expected = [&] {
    return ask(serving.service(), submission_of(test::greedy({9, 8, 7}, 12))).choices.front().token_ids();
  }();
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    clients.emplace_back([&, t] {
      for (int i = 0; i < 15; ++i) {
        auto taken = serving.service().submit(submission_of(test::greedy({9, 8, 7}, 12)));
        auto* active = std::get_if<ActiveRequest>(&taken);
        if (active == nullptr) continue;
        if ((i + t) % 3 == 0) continue;  // its destructor cancels
        if (read(*active).choices.front().token_ids() != expected) ++wrong;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_TRUE(holds_soon([&] { return all_is_free(serving.service().stats()); }));
}

}  // namespace
}  // namespace trireme::server
