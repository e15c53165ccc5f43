#include "scheduler/result_taker.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/check.h"

namespace trireme::scheduler {
namespace {

SequenceEvent event_of(const Sequence& sequence) {
  SequenceEvent event;
  event.sequence = sequence.id;
  event.request = sequence.request->id;
  event.choice_index = sequence.choice_index;
  return event;
}

}  // namespace

std::vector<SequenceEvent> ResultTaker::take() {
  TRIREME_CHECK(!state_.in_flight.empty()) << "a result of step " << result_.step << " without a plan in flight";
  const PlanInFlight plan = std::move(state_.in_flight.front());
  state_.in_flight.pop_front();
  TRIREME_CHECK(result_.epoch == state_.config.epoch && result_.replica == state_.config.replica &&
                result_.step == plan.step)
      << "result of epoch " << result_.epoch << ", replica " << result_.replica << ", step " << result_.step
      << "; due is epoch " << state_.config.epoch << ", replica " << state_.config.replica << ", step " << plan.step;
  state_.blocks.plan_completed();
  for (const WorkInFlight& work : plan.work) {
    const SampledToken* sampled = next_sampled(work);
    const ScoredTokens* scored = next_scored(work);
    apply(work, sampled, scored);
  }
  TRIREME_CHECK(num_sampled_ == result_.sampled.size() && num_scored_ == result_.scored.size())
      << "step " << plan.step << " returned more than its plan asked for";
  return std::move(events_);
}

const SampledToken* ResultTaker::next_sampled(const WorkInFlight& work) {
  if (!work.sample) return nullptr;
  TRIREME_CHECK(num_sampled_ < result_.sampled.size())
      << "step " << result_.step << " lacks sequence " << work.sequence;
  const SampledToken& sampled = result_.sampled[num_sampled_++];
  TRIREME_CHECK(sampled.sequence == work.sequence)
      << "step " << result_.step << " sampled sequence " << sampled.sequence << " in place of " << work.sequence;
  return &sampled;
}

const ScoredTokens* ResultTaker::next_scored(const WorkInFlight& work) {
  if (work.num_targets == 0) return nullptr;
  TRIREME_CHECK(num_scored_ < result_.scored.size()) << "step " << result_.step << " lacks scores of " << work.sequence;
  const ScoredTokens& scored = result_.scored[num_scored_++];
  const bool matches = scored.sequence == work.sequence && scored.first_position == work.first_target &&
                       scored.logprobs.size() == static_cast<std::size_t>(work.num_targets) &&
                       (scored.top.empty() || scored.top.size() == scored.logprobs.size());
  TRIREME_CHECK(matches) << "step " << result_.step << " scored " << scored.logprobs.size() << " tokens of sequence "
                         << scored.sequence << " from " << scored.first_position << "; due are " << work.num_targets
                         << " of sequence " << work.sequence << " from " << work.first_target;
  return &scored;
}

void ResultTaker::apply(const WorkInFlight& work, const SampledToken* sampled, const ScoredTokens* scored) {
  Sequence* found = state_.sequences.find(work.sequence);
  if (found == nullptr) return;  // ended while the plan was in flight
  Sequence& sequence = *found;
  --sequence.plans_in_flight;
  SequenceEvent event = event_of(sequence);
  if ((scored != nullptr && scored->non_finite) || (sampled != nullptr && sampled->non_finite)) {
    state_.blocks.forget(sequence.tables);
    sequence.num_computed = 0;  // nothing of it is worth keeping
    finish(sequence, std::move(event), FinishReason::kNonFinite);
    return;
  }
  const std::int32_t end = work.first_position + work.num_tokens;
  if (is_running(sequence.state)) {
    sequence.num_computed = end;
    const std::span<const TokenId> computed(sequence.tokens.data(), static_cast<std::size_t>(end));
    state_.blocks.cache_computed({sequence.prefix_scope, computed}, sequence.tables, sequence.cache_cursor, false);
    state_.blocks.pass_window(sequence.tables, end);
  }
  if (scored != nullptr) keep_scores(sequence, *scored);
  if (end >= sequence.prompt_length()) state_.sequences.prompt_computed(sequence);
  if (sampled != nullptr) {
    sequence.tokens.push_back(sampled->token);
    event.token = *sampled;
    const FinishReason reason = reason_to_finish(sequence);
    if (sequence.num_output() == 1 || reason != FinishReason::kNone) {
      event.prompt_logprobs = std::move(sequence.prompt_logprobs);
      event.prompt_top = std::move(sequence.prompt_top);
    }
    if (reason != FinishReason::kNone) return finish(sequence, std::move(event), reason);
    events_.push_back(std::move(event));
    if (is_running(sequence.state)) state_.sequences.move(sequence, SequenceState::kReady);
  } else if (end >= sequence.prompt_length() && sequence.request->max_tokens == 0) {
    event.prompt_logprobs = std::move(sequence.prompt_logprobs);
    event.prompt_top = std::move(sequence.prompt_top);
    return finish(sequence, std::move(event), FinishReason::kLength);
  }
  const bool drained = sequence.state == SequenceState::kDraining && sequence.plans_in_flight == 0;
  if (drained) state_.sequences.move(sequence, SequenceState::kWaiting);
}

void ResultTaker::keep_scores(Sequence& sequence, const ScoredTokens& scored) const {
  sequence.prompt_logprobs.insert(sequence.prompt_logprobs.end(), scored.logprobs.begin(), scored.logprobs.end());
  sequence.prompt_top.insert(sequence.prompt_top.end(), scored.top.begin(), scored.top.end());
}

void ResultTaker::finish(Sequence& sequence, SequenceEvent event, FinishReason reason) {
  event.finish_reason = reason;
  events_.push_back(std::move(event));
  state_.end(sequence);
}

FinishReason ResultTaker::reason_to_finish(const Sequence& sequence) const {
  const Request& request = *sequence.request;
  const bool is_stop =
      std::ranges::find(request.stop_token_ids, sequence.tokens.back()) != request.stop_token_ids.end();
  if (is_stop && sequence.num_output() > request.min_tokens) return FinishReason::kStop;
  const bool full = sequence.num_output() >= request.max_tokens || sequence.num_known() >= state_.config.max_context;
  return full ? FinishReason::kLength : FinishReason::kNone;
}

}  // namespace trireme::scheduler
