// SchedulerHarness: a scheduler and a FakePipeline behind it, for tests that play through a few steps.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scheduler/scheduler.h"
#include "tests/scheduler/fake_pipeline.h"

namespace trireme::scheduler {

// Prompts of the same `kind` continue one stream of tokens; prompts of different kinds share nothing.
inline std::vector<TokenId> prompt_of(std::int32_t length, TokenId kind = 0) {
  std::vector<TokenId> tokens;
  for (std::int32_t i = 0; i < length; ++i) tokens.push_back(1000 * kind + i % 7);
  return tokens;
}

inline SchedulerConfig small_config(std::int32_t num_blocks = 100) {
  SchedulerConfig config;
  config.max_step_tokens = 32;
  config.max_batch = 16;
  config.max_context = 64;
  config.block_tokens = 4;
  config.kv_groups = {{0, num_blocks}};
  config.prefix_cache = false;
  return config;
}

class SchedulerHarness {
 public:
  explicit SchedulerHarness(const SchedulerConfig& settings)
      : config(settings), scheduler(settings), pipeline(settings) {}

  Request request(std::vector<TokenId> prompt, std::int32_t max_tokens) {
    Request made;
    made.id = RequestId{++num_requests_};
    made.prompt = std::move(prompt);
    made.max_tokens = max_tokens;
    return made;
  }
  std::vector<SequenceId> add_choices(const Request& request) {
    const auto shared = std::make_shared<const Request>(request);
    std::vector<SequenceId> ids;
    for (std::uint32_t choice = 0; choice < static_cast<std::uint32_t>(request.num_choices); ++choice) {
      ids.push_back(scheduler.add(shared, choice, now).value());
      pipeline.expect(ids.back(), std::make_shared<TokenOracle>(shared, choice, config.max_context));
    }
    return ids;
  }
  SequenceId add(const Request& request) { return add_choices(request).front(); }
  SequenceId add(std::vector<TokenId> prompt, std::int32_t max_tokens) {
    return add(request(std::move(prompt), max_tokens));
  }

  // Schedules one plan and puts it in flight.
  std::optional<StepPlan> schedule() {
    std::optional<StepPlan> plan = scheduler.schedule(now);
    keep(scheduler.take_ended());
    if (plan) pipeline.submit(*plan);
    return plan;
  }
  void update() { keep(scheduler.update(pipeline.fetch_result(), now)); }
  // One plan from order to result.
  StepPlan step() {
    std::optional<StepPlan> plan = schedule();
    TRIREME_CHECK(plan.has_value()) << "nothing to schedule";
    while (pipeline.plans_in_flight() > 0) update();
    return *std::move(plan);
  }
  void run_to_end() {
    for (int round = 0; !scheduler.idle(); ++round) {
      TRIREME_CHECK(round < 10000) << "does not end";
      while (schedule()) {
      }
      if (pipeline.plans_in_flight() > 0) update();
    }
  }

  std::vector<TokenId> output(SequenceId id) const {
    std::vector<TokenId> tokens;
    for (const SequenceEvent& event : events) {
      if (event.sequence == id && event.token) tokens.push_back(event.token->token);
    }
    return tokens;
  }
  FinishReason reason(SequenceId id) const {
    for (const SequenceEvent& event : events) {
      if (event.sequence == id && event.finish_reason != FinishReason::kNone) return event.finish_reason;
    }
    return FinishReason::kNone;
  }

  SchedulerConfig config;
  Scheduler scheduler;
  FakePipeline pipeline;
  TimePoint now{};
  std::vector<SequenceEvent> events;

 private:
  void keep(std::vector<SequenceEvent> more) { events.insert(events.end(), more.begin(), more.end()); }
  std::uint64_t num_requests_ = 0;
};

inline std::vector<SequenceId> sequences_of(const StepPlan& plan) {
  std::vector<SequenceId> ids;
  for (const SequenceWork& work : plan.work) ids.push_back(work.sequence);
  return ids;
}

inline std::size_t num_tokens_of(const StepPlan& plan, SequenceId id) {
  for (const SequenceWork& work : plan.work) {
    if (work.sequence == id) return work.tokens.size();
  }
  return 0;
}

}  // namespace trireme::scheduler
