#include "scheduler/scheduler_state.h"

#include <span>
#include <utility>

namespace trireme::scheduler {

SchedulerState::SchedulerState(SchedulerConfig settings)
    : config(std::move(settings)),
      sequences(config.batching),
      blocks(config.block_tokens, config.kv_groups, config.prefix_cache) {}

void SchedulerState::leave_stages(Sequence& sequence) {
  if (!is_running(sequence.state)) return;
  const std::span<const TokenId> computed(sequence.tokens.data(), static_cast<std::size_t>(sequence.num_computed));
  blocks.cache_computed({sequence.prefix_scope, computed}, sequence.tables, sequence.cache_cursor, true);
  blocks.release(sequence.tables);
  sequence.cache_cursor = {};
  released.push_back(sequence.id);
}

void SchedulerState::preempt(Sequence& sequence) {
  leave_stages(sequence);
  sequences.move(sequence, SequenceState::kDraining);
  sequence.num_scheduled = 0;
  sequence.num_computed = 0;
  sequence.shielded = ++sequence.num_preemptions >= kMaxPreemptions;
  ++num_preemptions;
  if (sequence.plans_in_flight == 0) sequences.move(sequence, SequenceState::kWaiting);
}

void SchedulerState::end(Sequence& sequence) {
  leave_stages(sequence);
  sequences.erase(sequence);
}

}  // namespace trireme::scheduler
