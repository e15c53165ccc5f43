#include "runtime/worker/sequence_table.h"

#include "base/check.h"

namespace trireme::worker {

StageSequence& SequenceTable::find(scheduler::SequenceId id) {
  const auto found = sequences_.find(id);
  TRIREME_CHECK(found != sequences_.end()) << "the plan names sequence " << id << ", which this stage does not know";
  return found->second;
}

void SequenceTable::apply(const scheduler::StepPlan& plan) {
  for (const scheduler::SequenceId id : plan.released) {
    TRIREME_CHECK(sequences_.erase(id) == 1)
        << "the plan releases sequence " << id << ", which this stage does not know";
  }
  for (const scheduler::SequenceAdmission& admission : plan.admitted) {
    StageSequence sequence;
    sequence.admission = admission;
    sequence.blocks.resize(static_cast<std::size_t>(num_groups_));
    TRIREME_CHECK(sequences_.emplace(admission.sequence, std::move(sequence)).second)
        << "sequence " << admission.sequence << " is admitted twice";
  }
  for (const scheduler::BlockAppend& append : plan.appended) {
    TRIREME_CHECK(append.group < static_cast<std::uint32_t>(num_groups_)) << append.group;
    auto& table = find(append.sequence).blocks[append.group];
    for (const scheduler::BlockId block : append.blocks) table.push_back(block.value);
  }
}

StageSequence& SequenceTable::advance(const scheduler::SequenceWork& work) {
  StageSequence& sequence = find(work.sequence);
  TRIREME_CHECK(sequence.next_position < 0 || sequence.next_position == work.first_position)
      << "sequence " << work.sequence << " is at position " << sequence.next_position << ", the plan goes on at "
      << work.first_position;
  sequence.next_position = work.first_position + static_cast<std::int32_t>(work.tokens.size());
  if (!sequence.admission.sampling.needs_history()) return sequence;
  auto& history = sequence.admission.history;
  const auto first = static_cast<std::size_t>(work.first_position);
  TRIREME_CHECK(first <= history.size()) << "history of sequence " << work.sequence << " has a gap";
  for (std::size_t i = 0; i < work.tokens.size(); ++i) {
    if (first + i == history.size()) history.push_back(work.tokens[i]);
  }
  return sequence;
}

}  // namespace trireme::worker
