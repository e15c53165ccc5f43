// SequenceTable: what one stage knows of the sequences of its replica: block tables, sampling state, and tokens where
// sampling needs them. Changed only by the plans of rank 0, in order; a plan that does not fit ends the job.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "scheduler/step_plan.h"

namespace trireme::worker {

struct StageSequence {
  scheduler::SequenceAdmission admission;         // `history` grows with the computed tokens where sampling needs it
  std::vector<std::vector<std::int32_t>> blocks;  // per layer group, by position / block_tokens
  std::int32_t next_position = -1;  // where the next work must start; -1: anywhere (a prefix may be cached)
};

class SequenceTable {
 public:
  explicit SequenceTable(std::int32_t num_groups) : num_groups_(num_groups) {}

  // Releases, admits and appends as the plan says. Throws base::CheckFailure where plan and table disagree.
  void apply(const scheduler::StepPlan& plan);
  // Checks that `work` continues its sequence and notes its tokens as computed.
  StageSequence& advance(const scheduler::SequenceWork& work);

  std::size_t size() const { return sequences_.size(); }

 private:
  StageSequence& find(scheduler::SequenceId id);

  std::int32_t num_groups_;
  std::unordered_map<scheduler::SequenceId, StageSequence> sequences_;
};

}  // namespace trireme::worker
