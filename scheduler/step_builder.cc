#include "scheduler/step_builder.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace trireme::scheduler {

StepBuilder::StepBuilder(SchedulerState& state, TimePoint now)
    : state_(state),
      now_(now),
      budget_(state.config.max_step_tokens, state.config.context_cost),
      claimed_(state.blocks.num_groups(), 0),
      reserved_(state.blocks.num_groups(), 0) {
  plan_.epoch = state.config.epoch;
  plan_.replica = state.config.replica;
  plan_.step = state.next_step;
  record_.step = state.next_step;
}

std::optional<StepPlan> StepBuilder::build() {
  add_ready();
  budget_.limit(state_.config.prefill_chunk);
  const std::int32_t beside_decoding = state_.config.batching.mixed_prefill_tokens;
  if (!plan_.work.empty() && beside_decoding > 0) budget_.limit(beside_decoding);
  limit_chunks();
  add_catching_up();
  if (!preempted_) admit_waiting();
  if (plan_.work.empty()) return std::nullopt;
  submit();
  return std::move(plan_);
}

// Decoding sequences are spread evenly over the plans that can be in flight, so that every stage has work.
void StepBuilder::add_ready() {
  const auto plans = static_cast<std::size_t>(state_.config.max_plans_in_flight);
  std::size_t places = (state_.sequences.num_decoding() + plans - 1) / plans;
  const std::vector<Sequence*> ready(state_.sequences.ready().begin(), state_.sequences.ready().end());
  for (Sequence* sequence : ready) {
    if (places == 0) break;
    if (sequence->state != SequenceState::kReady) continue;  // preempted by one before it
    const bool affordable = plan_.work.empty() || budget_.tokens_that_fit(sequence->num_scheduled, 1) == 1;
    if (!affordable || !make_room(*sequence)) continue;
    add_work(*sequence, 1);
    --places;
  }
}

// A prompt that no other work accompanies is spread over the stages, so that they compute on it at the same time.
void StepBuilder::limit_chunks() {
  const std::int32_t stages = std::min(state_.config.num_stages, state_.config.max_plans_in_flight);
  chunk_tokens_left_ = std::numeric_limits<std::int32_t>::max();
  if (stages <= 1) return;
  const std::int64_t enough =
      std::int64_t{stages} * std::min(state_.config.max_step_tokens, state_.config.prefill_chunk);
  std::int64_t missing = 0;
  for (const Sequence* sequence : state_.sequences.catching_up()) {
    if (missing >= enough) return;
    missing += sequence->num_known() - sequence->num_computed;
  }
  missing += state_.sequences.batcher().waiting_tokens();
  const auto share = static_cast<std::int32_t>(std::min(enough, missing + stages - 1) / stages);
  chunk_tokens_left_ = std::max(kMinSpreadTokens, share);
}

void StepBuilder::add_catching_up() {
  const std::vector<Sequence*> ranked(state_.sequences.catching_up().begin(), state_.sequences.catching_up().end());
  for (Sequence* sequence : ranked) {
    if (sequence->state != SequenceState::kCatchingUp) continue;
    const std::int32_t wanted = chunk_length(*sequence, sequence->num_scheduled);
    if (wanted == 0 || !make_room(*sequence)) continue;
    add_work(*sequence, state_.blocks.tokens_that_fit(sequence->tables, sequence->num_scheduled, wanted));
  }
}

// How many tokens from `begin` on the budget allows; at least one if the step is empty.
std::int32_t StepBuilder::chunk_length(const Sequence& sequence, std::int32_t begin) const {
  const std::int32_t wanted = std::min(sequence.num_known() - begin, chunk_tokens_left_);
  return std::max(budget_.tokens_that_fit(begin, wanted), plan_.work.empty() ? 1 : 0);
}

void StepBuilder::add_work(Sequence& sequence, std::int32_t num_tokens) {
  const std::int32_t begin = sequence.num_scheduled;
  const std::int32_t end = begin + num_tokens;
  state_.blocks.extend(sequence.tables, end);
  state_.blocks.send_new_blocks(sequence.id, sequence.tables, plan_.appended);

  SequenceWork& work = plan_.work.emplace_back();
  work.sequence = sequence.id;
  work.first_position = begin;
  work.tokens.assign(sequence.tokens.begin() + begin, sequence.tokens.begin() + end);
  work.sample = end == sequence.num_known() && sequence.request->max_tokens > 0;
  if (sequence.request->prompt_logprobs) add_scores(sequence, work);
  record_.work.push_back({sequence.id, begin, num_tokens, work.sample, begin + work.score_begin + 1,
                          static_cast<std::int32_t>(work.score_targets.size())});

  ++composition_.num_sequences;
  (sequence.state == SequenceState::kReady ? composition_.decode_tokens : composition_.prefill_tokens) += num_tokens;
  budget_.spend(begin, num_tokens);
  state_.sequences.batcher().computed(sequence, num_tokens);
  if (sequence.state == SequenceState::kCatchingUp) chunk_tokens_left_ -= num_tokens;
  sequence.num_scheduled = end;
  sequence.last_step = plan_.step;
  ++sequence.plans_in_flight;
  if (end == sequence.num_known()) state_.sequences.move(sequence, SequenceState::kInFlight);
}

// The row of prompt position p tells how likely prompt[p + 1] was. A row is scored once, also across preemptions.
void StepBuilder::add_scores(Sequence& sequence, SequenceWork& work) const {
  const std::int32_t begin = std::max(work.first_position, sequence.next_score);
  const std::int32_t end =
      std::min(work.first_position + static_cast<std::int32_t>(work.tokens.size()), sequence.prompt_length() - 1);
  if (begin >= end) return;
  work.score_begin = begin - work.first_position;
  work.score_targets.assign(sequence.tokens.begin() + begin + 1, sequence.tokens.begin() + end + 1);
  sequence.next_score = end;
}

// Whether the next position of a running sequence has a place in every group. Makes sequences that go after it give
// way, the last first, unless blocks that plans in flight hold back will do.
bool StepBuilder::make_room(const Sequence& sequence) {
  const auto fits_now = [&] { return state_.blocks.tokens_that_fit(sequence.tables, sequence.num_scheduled, 1) == 1; };
  if (fits_now()) return true;
  while (!may_get_blocks(sequence)) {
    Sequence* victim = victim_for(sequence);
    if (victim == nullptr) return false;
    state_.preempt(*victim);
    preempted_ = true;
  }
  if (fits_now()) return true;
  for (std::size_t g = 0; g < claimed_.size(); ++g) {
    if (state_.blocks.needs_block(g, sequence.tables, sequence.num_scheduled)) ++claimed_[g];
  }
  return false;
}

bool StepBuilder::may_get_blocks(const Sequence& sequence) const {
  for (std::size_t g = 0; g < claimed_.size(); ++g) {
    if (!state_.blocks.needs_block(g, sequence.tables, sequence.num_scheduled)) continue;
    if (state_.blocks.pool(g).num_unreferenced() <= claimed_[g]) return false;
  }
  return true;
}

// The last of the running sequences, if it goes after `sequence`; none that this step already computes.
Sequence* StepBuilder::victim_for(const Sequence& sequence) const {
  const auto& running = state_.sequences.running();
  for (auto last = running.rbegin(); last != running.rend() && GoesBefore{}(&sequence, *last); ++last) {
    if ((*last)->last_step != plan_.step) return *last;
  }
  return nullptr;
}

void StepBuilder::submit() {
  plan_.released = std::move(state_.released);
  state_.released.clear();
  ++state_.next_step;
  state_.last_composition = composition_;
  state_.in_flight.push_back(std::move(record_));
  state_.blocks.plan_submitted();
  for (PrefixReuse& reuse : copying_) state_.blocks.release_sources(reuse);
}

}  // namespace trireme::scheduler
