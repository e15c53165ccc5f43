#include "scheduler/scheduler.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "scheduler/result_taker.h"
#include "scheduler/scheduler_state.h"
#include "scheduler/step_builder.h"

namespace trireme::scheduler {

struct Scheduler::State : SchedulerState {
  using SchedulerState::SchedulerState;
};

Scheduler::Scheduler(SchedulerConfig config) : state_(std::make_unique<State>(std::move(config))) {
  const SchedulerConfig& checked = state_->config;
  TRIREME_CHECK(checked.max_plans_in_flight > 0 && checked.num_stages > 0 && checked.max_step_tokens > 0 &&
                checked.prefill_chunk > 0 && checked.max_batch > 0 && checked.max_context > 0 &&
                checked.block_tokens > 0);
  TRIREME_CHECK(!checked.kv_groups.empty() && checked.context_cost >= 0.0);
}

Scheduler::~Scheduler() = default;

namespace {

std::string lacks_context(std::int64_t prompt, std::int32_t output, std::int32_t max_context) {
  return "prompt of " + std::to_string(prompt) + " tokens and " + std::to_string(output) +
         " output token exceed the context (max_context) of " + std::to_string(max_context) + " tokens";
}

// Reads only what never changes.
base::Status check_fits(const SchedulerState& state, const Request& request) {
  if (request.prompt.empty()) return base::invalid_argument("prompt: at least one token is needed");
  if (request.adapter > state.config.num_adapters) {
    return base::invalid_argument("adapter: number " + std::to_string(request.adapter) + " of " +
                                  std::to_string(state.config.num_adapters));
  }
  if (request.max_tokens < 0) return base::invalid_argument("max_tokens: must not be negative");
  const std::int32_t max_context = state.config.max_context;
  const auto prompt = static_cast<std::int64_t>(request.prompt.size());
  const std::int32_t least_output = std::min(1, request.max_tokens);
  if (prompt + least_output > max_context) {
    return base::invalid_argument(lacks_context(prompt, least_output, max_context));
  }
  const auto longest = static_cast<std::int32_t>(std::min<std::int64_t>(prompt + request.max_tokens, max_context));
  for (std::size_t g = 0; g < state.blocks.num_groups(); ++g) {
    const std::int32_t needed = state.blocks.blocks_needed(g, longest);
    const std::int32_t available = state.blocks.pool(g).num_blocks();
    if (needed <= available) continue;
    return base::invalid_argument("prompt and max_tokens: " + std::to_string(longest) + " tokens need " +
                                  std::to_string(needed) + " KV blocks of group " + std::to_string(g) + ", which has " +
                                  std::to_string(available) + " (kv_cache memory)");
  }
  return base::ok_status();
}

}  // namespace

base::Status Scheduler::check(const Request& request) const {
  return check_fits(*state_, request);
}

base::Result<SequenceId> Scheduler::add(std::shared_ptr<const Request> request, std::uint32_t choice_index,
                                        TimePoint now) {
  if (const base::Status fits = check(*request); !fits) return fits.error();
  auto sequence = std::make_unique<Sequence>();
  sequence->id = SequenceId{state_->next_sequence++};
  sequence->choice_index = choice_index;
  sequence->tokens = request->prompt;
  sequence->prefix_scope = request->prefix_scope();
  // Choices of one request share the blocks of its prompt, once the first has computed it.
  const bool shares_prompt = state_->config.prefix_cache && request->num_choices > 1 && !request->prompt_logprobs &&
                             request->prompt.size() >= static_cast<std::size_t>(state_->config.block_tokens);
  sequence->request = std::move(request);
  return state_->sequences.add(std::move(sequence), shares_prompt, now).id;
}

std::optional<StepPlan> Scheduler::schedule(TimePoint now) {
  while (Sequence* expired = state_->sequences.any_expired(now)) {
    SequenceEvent& event = state_->ended.emplace_back();
    event.sequence = expired->id;
    event.request = expired->request->id;
    event.choice_index = expired->choice_index;
    event.finish_reason = FinishReason::kDeadline;
    state_->end(*expired);
  }
  if (state_->in_flight.size() >= static_cast<std::size_t>(state_->config.max_plans_in_flight)) return std::nullopt;
  return StepBuilder(*state_, now).build();
}

const StepComposition& Scheduler::last_composition() const {
  return state_->last_composition;
}

std::vector<SequenceEvent> Scheduler::update(const StepResult& result, TimePoint) {
  return ResultTaker(*state_, result).take();
}

std::vector<SequenceEvent> Scheduler::take_ended() {
  return std::exchange(state_->ended, {});
}

void Scheduler::set_batching(BatchingPolicy policy) {
  TRIREME_CHECK(idle());
  state_->config.batching = policy;
  state_->sequences.batcher() = DynamicBatcher(std::move(policy));
}

std::vector<SequenceStart> Scheduler::take_started() {
  return std::exchange(state_->started, {});
}

void Scheduler::forget_scope(const std::string& cache_scope) {
  Request of_scope;
  of_scope.cache_scope = cache_scope;
  for (of_scope.adapter = 0; of_scope.adapter <= state_->config.num_adapters; ++of_scope.adapter) {
    state_->blocks.forget_scope(of_scope.prefix_scope());
  }
}

void Scheduler::finish(SequenceId sequence) {
  if (Sequence* found = state_->sequences.find(sequence)) state_->end(*found);
}

bool Scheduler::idle() const {
  return state_->sequences.size() == 0 && state_->in_flight.empty();
}

SchedulerStats Scheduler::stats() const {
  SchedulerStats stats;
  stats.num_running = static_cast<std::int32_t>(state_->sequences.running().size());
  stats.num_waiting = static_cast<std::int32_t>(state_->sequences.size()) - stats.num_running;
  stats.plans_in_flight = static_cast<std::int32_t>(state_->in_flight.size());
  stats.num_preemptions = state_->num_preemptions;
  stats.prefix_hit_tokens = state_->prefix_hit_tokens;
  stats.prefix_query_tokens = state_->prefix_query_tokens;
  for (std::size_t g = 0; g < state_->blocks.num_groups(); ++g) {
    stats.free_blocks.push_back(state_->blocks.pool(g).num_unreferenced());
    stats.total_blocks.push_back(state_->blocks.pool(g).num_blocks());
  }
  return stats;
}

}  // namespace trireme::scheduler
