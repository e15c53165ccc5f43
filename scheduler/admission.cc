// The part of StepBuilder that admits waiting sequences.
#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "scheduler/step_builder.h"

namespace trireme::scheduler {

AdmissionRound::Who StepBuilder::who_may_enter() const {
  using Work = DynamicBatcher::StepWork;
  const Work work = plan_.work.empty() ? Work::kNone : Work::kSome;
  const bool is_due = state_.sequences.batcher().is_due(now_, work, static_cast<std::int64_t>(budget_.rest()));
  return is_due ? AdmissionRound::Who::kAll : AdmissionRound::Who::kResumed;
}

// In the batcher's order. One that does not fit may be overtaken by those behind it, but only kMaxOvertaken times: then
// all wait until enough running sequences have ended.
void StepBuilder::admit_waiting() {
  if (state_.sequences.batcher().num_waiting() == 0) return;
  for (const Sequence* sequence : state_.sequences.catching_up()) {
    for (std::size_t g = 0; g < reserved_.size(); ++g) {
      reserved_[g] += state_.blocks.blocks_missing(g, sequence->tables[g], sequence->num_known());
    }
  }
  std::vector<Sequence*> blocked;
  AdmissionRound round(state_.sequences.batcher(), who_may_enter());
  while (Sequence* next = round.next()) {
    Sequence& sequence = *next;
    if (state_.sequences.running().size() >= static_cast<std::size_t>(state_.config.max_batch)) return;
    if (chunk_length(sequence, 0) == 0) return;
    if (try_admit(sequence)) {
      for (Sequence* overtaken : blocked) ++overtaken->times_overtaken;
      continue;
    }
    if (sequence.times_overtaken >= kMaxOvertaken) return;
    blocked.push_back(&sequence);
    if (blocked.size() > static_cast<std::size_t>(kMaxLookahead)) return;
  }
}

bool StepBuilder::try_admit(Sequence& sequence) {
  if (sequence.refused_at == state_.blocks.num_freed()) return false;
  sequence.tables = state_.blocks.empty_tables();
  if (sequence.request->prompt_logprobs) return admit_with(sequence, {});  // every row is needed
  // At least the last known token is computed, for its logits.
  const std::span<const TokenId> reusable(sequence.tokens.data(), sequence.tokens.size() - 1);
  const ScopedTokens known{sequence.prefix_scope, reusable};
  PrefixReuse reuse = state_.blocks.reuse_prefix(known, MatchExtent::kPartialBlock, sequence.tables);
  const bool copies = reuse.copied_tokens > 0;
  if (admit_with(sequence, std::move(reuse))) return true;
  // The source of a copy takes a block; without it the sequence may fit.
  return copies && admit_with(sequence, state_.blocks.reuse_prefix(known, MatchExtent::kWholeBlocks, sequence.tables));
}

// Gives back what is reused if the sequence does not fit.
bool StepBuilder::admit_with(Sequence& sequence, PrefixReuse reuse) {
  const bool has_blocks = fits(sequence);
  if (has_blocks && chunk_length(sequence, reuse.shared_tokens + reuse.copied_tokens) > 0) {
    enter_stages(sequence, std::move(reuse));
    return true;
  }
  state_.blocks.release_sources(reuse);
  state_.blocks.release(sequence.tables);
  if (!has_blocks) sequence.refused_at = state_.blocks.num_freed();
  return false;
}

// Whether all known tokens will find a place beside those of the prompts admitted before, and leave the watermark free.
bool StepBuilder::fits(const Sequence& sequence) const {
  const bool alone = state_.sequences.running().empty();
  for (std::size_t g = 0; g < reserved_.size(); ++g) {
    const BlockPool& pool = state_.blocks.pool(g);
    const std::int32_t kept_free = alone ? 0 : reserved_[g] + pool.num_blocks() / kWatermarkDivisor;
    const std::int32_t missing = state_.blocks.blocks_missing(g, sequence.tables[g], sequence.num_known());
    if (pool.num_available() < missing + kept_free) return false;
  }
  return true;
}

void StepBuilder::enter_stages(Sequence& sequence, PrefixReuse reuse) {
  SequenceAdmission& admission = plan_.admitted.emplace_back();
  admission.sequence = sequence.id;
  admission.choice_index = sequence.choice_index;
  admission.prompt_length = sequence.prompt_length();
  admission.adapter = sequence.request->adapter;
  admission.sampling = sequence.request->sampling;
  if (admission.sampling.needs_history()) admission.history = sequence.tokens;

  sequence.times_overtaken = 0;
  sequence.refused_at.reset();
  sequence.num_computed = sequence.num_scheduled = reuse.shared_tokens + reuse.copied_tokens;
  if (sequence.num_preemptions == 0) {
    state_.started.push_back({sequence.id, sequence.request->id, sequence.num_computed});
  }
  state_.prefix_hit_tokens += sequence.num_computed;
  if (!sequence.request->prompt_logprobs) state_.prefix_query_tokens += sequence.num_known();
  state_.sequences.move(sequence, SequenceState::kCatchingUp);

  const std::int32_t wanted = chunk_length(sequence, sequence.num_scheduled);
  const std::int32_t num_tokens = state_.blocks.tokens_that_fit(sequence.tables, sequence.num_scheduled, wanted);
  TRIREME_CHECK(num_tokens > 0) << "sequence " << sequence.id;
  add_work(sequence, num_tokens);
  for (std::size_t g = 0; g < reserved_.size(); ++g) {
    reserved_[g] += state_.blocks.blocks_missing(g, sequence.tables[g], sequence.num_known());
  }
  if (reuse.copied_tokens == 0) return;
  const auto target = static_cast<std::size_t>(reuse.shared_tokens / state_.config.block_tokens);
  for (std::size_t g = 0; g < reuse.sources.size(); ++g) {
    plan_.copies.push_back(
        {static_cast<std::uint32_t>(g), reuse.sources[g], sequence.tables[g].blocks[target], reuse.copied_tokens});
  }
  copying_.push_back(std::move(reuse));
}

}  // namespace trireme::scheduler
