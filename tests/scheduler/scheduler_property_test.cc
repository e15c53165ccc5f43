// Random request streams against a model of the stages: FakePipeline checks each plan, the client here checks that
// every request gets exactly what its oracle says, and that in the end nothing is held.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include "base/check.h"
#include "scheduler/scheduler.h"
#include "tests/scheduler/fake_pipeline.h"

namespace trireme::scheduler {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::int32_t between(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(std::int32_t percent) { return between(1, 100) <= percent; }
  template <typename T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int32_t>(values.size()) - 1)];
  }

 private:
  std::mt19937_64 engine_;
};

BatchingPolicy random_policy(Random& random) {
  BatchingPolicy policy;
  if (random.chance(50)) return policy;
  policy.window = std::chrono::milliseconds(random.one_of({0, 1, 20, 1000}));
  policy.mixed_prefill_tokens = random.one_of({0, 1, 10});
  if (random.chance(50)) policy.bucket_bounds = {4, 12};
  policy.bucket_cap = random.one_of({0, 1, 3});
  policy.priority_worth = std::chrono::milliseconds(random.one_of({0, 5, 1000}));
  return policy;
}

SchedulerConfig random_config(Random& random) {
  SchedulerConfig config;
  config.epoch = 3;
  config.replica = 1;
  config.max_plans_in_flight = random.between(1, 4);
  config.num_stages = random.between(1, config.max_plans_in_flight);
  config.max_step_tokens = random.one_of({1, 3, 16, 64, 300});
  config.context_cost = random.one_of({0.0, 0.05, 0.5});
  config.max_batch = random.one_of({1, 3, 8, 32});
  config.block_tokens = random.one_of({4, 4, 8, 80});
  config.max_context = config.block_tokens * random.between(3, 6) + random.between(0, 3);
  config.prefix_cache = random.chance(75);
  config.batching = random_policy(random);
  const std::int32_t blocks = random.between(3, 14);
  const std::int32_t window = random.one_of({2, 5, 9, 20});
  const std::int32_t window_blocks = ceil_div(window - 1, config.block_tokens) + 1 + random.between(0, 5);
  switch (random.between(0, 3)) {
    case 0: config.kv_groups = {{window, window_blocks}}; break;
    case 1: config.kv_groups = {{0, blocks}, {window, window_blocks}}; break;
    case 2: config.kv_groups = {{window, window_blocks}, {0, blocks}}; break;
    default: config.kv_groups = {{0, blocks}}; break;
  }
  return config;
}

// Prompts share prefixes of all lengths: each continues one stream of tokens up to some point.
std::shared_ptr<const Request> random_request(Random& random, std::uint64_t id, std::int32_t max_context,
                                              TimePoint now) {
  auto request = std::make_shared<Request>();
  request->id = RequestId{id};
  request->tenant = random.chance(80) ? "" : "other";
  const std::int32_t length = random.between(1, random.chance(30) ? max_context : max_context / 2);
  const std::int32_t common = random.between(0, length);
  for (std::int32_t i = 0; i < length; ++i) {
    request->prompt.push_back(i < common ? i % TokenOracle::kVocabulary
                                         : random.between(0, TokenOracle::kVocabulary - 1));
  }
  request->max_tokens = random.chance(10) ? 0 : random.between(1, max_context);
  request->min_tokens = random.between(0, 3);
  request->num_choices = random.chance(20) ? random.between(2, 4) : 1;
  if (random.chance(50)) request->stop_token_ids = {random.between(0, TokenOracle::kVocabulary - 1)};
  request->prompt_logprobs = random.chance(15);
  request->priority = random.chance(70) ? 0 : random.between(-1, 1);
  if (random.chance(20)) request->sampling.repetition_penalty = 1.5f;
  if (random.chance(10)) request->deadline = now + std::chrono::milliseconds(random.between(0, 200));
  return request;
}

class Client {
 public:
  explicit Client(std::uint64_t seed)
      : random_(seed), config_(random_config(random_)), scheduler_(config_), pipeline_(config_) {}

  void run(std::int32_t num_rounds) {
    const std::int32_t load = random_.between(2, 40);
    for (std::int32_t round = 0; round < num_rounds; ++round) {
      if (random_.chance(load)) add_request();
      if (random_.chance(3)) cancel_one();
      if (random_.chance(1)) break_one();
      turn();
    }
    for (std::int32_t round = 0; !scheduler_.idle(); ++round) {
      TRIREME_CHECK(round < 200000) << "does not come to an end";
      turn();
    }
    check_all_given_back();
  }

  SchedulerStats stats() const { return scheduler_.stats(); }
  std::int64_t num_finished() const { return num_finished_; }
  std::int64_t num_plans() const { return num_plans_; }

 private:
  struct Expected {
    std::shared_ptr<const TokenOracle> oracle;
    std::int32_t num_reported = 0;
    bool broken = false;
    std::optional<TimePoint> deadline;
  };

  void add_request() {
    const auto request = random_request(random_, ++last_request_, config_.max_context, now_);
    for (std::int32_t choice = 0; choice < request->num_choices; ++choice) {
      const auto index = static_cast<std::uint32_t>(choice);
      const base::Result<SequenceId> added = scheduler_.add(request, index, now_);
      if (!added.ok()) continue;
      auto oracle = std::make_shared<TokenOracle>(request, index, config_.max_context);
      pipeline_.expect(*added, oracle);
      open_[*added] = {oracle, 0, false, request->deadline};
    }
  }

  SequenceId any_open() {
    auto chosen = open_.begin();
    std::advance(chosen, random_.between(0, static_cast<std::int32_t>(open_.size()) - 1));
    return chosen->first;
  }

  void cancel_one() {
    if (open_.empty()) return;
    const SequenceId id = any_open();
    scheduler_.finish(id);
    open_.erase(id);
  }

  void break_one() {
    if (open_.empty()) return;
    const SequenceId id = any_open();
    pipeline_.break_sequence(id);
    open_.at(id).broken = true;
  }

  void turn() {
    now_ += std::chrono::milliseconds(1);
    while (!random_.chance(30)) {
      const auto plan = scheduler_.schedule(now_);
      for (const SequenceEvent& event : scheduler_.take_ended()) check_deadline(event);
      if (plan) {
        pipeline_.submit(*plan);
        ++num_plans_;
        continue;
      }
      TRIREME_CHECK(pipeline_.plans_in_flight() > 0 || scheduler_.idle()) << "stuck after " << num_plans_ << " plans";
      break;
    }
    if (pipeline_.plans_in_flight() > 0 && random_.chance(60)) {
      for (const SequenceEvent& event : scheduler_.update(pipeline_.fetch_result(), now_)) check_event(event);
    }
  }

  void check_deadline(const SequenceEvent& event) {
    const auto found = open_.find(event.sequence);
    TRIREME_CHECK(found != open_.end() && event.finish_reason == FinishReason::kDeadline);
    TRIREME_CHECK(found->second.deadline && *found->second.deadline <= now_);
    open_.erase(found);
  }

  void check_event(const SequenceEvent& event) {
    const auto found = open_.find(event.sequence);
    TRIREME_CHECK(found != open_.end()) << "an event of sequence " << event.sequence << ", which has ended";
    Expected& expected = found->second;
    if (event.finish_reason == FinishReason::kNonFinite) {
      TRIREME_CHECK(expected.broken && !event.token);
      open_.erase(found);
      return;
    }
    const TokenOracle& oracle = *expected.oracle;
    if (event.token) {
      const std::size_t position = oracle.request().prompt.size() + static_cast<std::size_t>(expected.num_reported++);
      TRIREME_CHECK(event.token->token == oracle.tokens().at(position)) << "sequence " << event.sequence;
    }
    if (expected.num_reported <= 1) check_scores(event, oracle);
    const bool complete = expected.num_reported == oracle.num_output();
    TRIREME_CHECK(event.finish_reason == (complete ? oracle.finish_reason() : FinishReason::kNone));
    if (!complete) return;
    open_.erase(found);
    ++num_finished_;
  }

  static void check_scores(const SequenceEvent& event, const TokenOracle& oracle) {
    const auto& prompt = oracle.request().prompt;
    const std::size_t num_scores = oracle.request().prompt_logprobs ? prompt.size() - 1 : 0;
    TRIREME_CHECK(event.prompt_logprobs.size() == num_scores) << event.prompt_logprobs.size() << " of " << num_scores;
    for (std::size_t i = 0; i < num_scores; ++i) {
      TRIREME_CHECK(event.prompt_logprobs[i] == oracle.logprob(static_cast<std::int32_t>(i), prompt[i + 1])) << i;
    }
  }

  void check_all_given_back() {
    TRIREME_CHECK(open_.empty()) << open_.size() << " sequences were never finished";
    const SchedulerStats end = scheduler_.stats();
    TRIREME_CHECK(end.num_waiting == 0 && end.num_running == 0 && end.plans_in_flight == 0);
    TRIREME_CHECK(end.free_blocks == end.total_blocks) << "a block is leaked";
  }

  Random random_;
  SchedulerConfig config_;
  Scheduler scheduler_;
  FakePipeline pipeline_;
  TimePoint now_{};
  std::uint64_t last_request_ = 0;
  std::map<SequenceId, Expected> open_;
  std::int64_t num_finished_ = 0;
  std::int64_t num_plans_ = 0;
};

TEST(SchedulerPropertyTest, RandomStreamsKeepEveryRuleAndEnd) {
  std::int64_t finished = 0, plans = 0, preemptions = 0, hits = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Client client(seed);
    ASSERT_NO_THROW(client.run(400));
    finished += client.num_finished();
    plans += client.num_plans();
    preemptions += client.stats().num_preemptions;
    hits += client.stats().prefix_hit_tokens;
  }
  // The streams must have met what they are meant to test.
  EXPECT_GT(finished, 5000);
  EXPECT_GT(plans, 50000);
  EXPECT_GT(preemptions, 500);
  EXPECT_GT(hits, 10000);
}

}  // namespace
}  // namespace trireme::scheduler
