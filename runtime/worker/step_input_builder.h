// Turns a plan's work into the flat arrays that kernels read: token ids, positions, cache slots and block tables.
#pragma once

#include <vector>

#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/stage_model.h"
#include "runtime/worker/sequence_table.h"
#include "scheduler/step_plan.h"

namespace trireme::worker {

// One sequence's share of a step's rows.
struct WorkRows {
  const scheduler::SequenceWork* work = nullptr;
  const StageSequence* sequence = nullptr;
  std::int64_t first_row = 0;
};

struct BuiltStep {
  model::StepInput input;      // block tables point into the SequenceTable: valid until its next change
  std::vector<WorkRows> work;  // in the plan's order
};

// Advances the table's sequences. Throws base::CheckFailure if a position has no block or a block is out of range.
BuiltStep build_step(const scheduler::StepPlan& plan, SequenceTable& table, const kv_cache::KvCache& cache);

}  // namespace trireme::worker
