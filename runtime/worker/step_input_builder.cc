#include "runtime/worker/step_input_builder.h"

#include "base/check.h"

namespace trireme::worker {
namespace {

void add_slots(std::int64_t first_position, std::int64_t num_rows, const std::vector<std::int32_t>& blocks,
               std::int32_t block_tokens, std::int32_t num_blocks, std::vector<std::int64_t>& slots) {
  for (std::int64_t position = first_position; position < first_position + num_rows; ++position) {
    const auto index = static_cast<std::size_t>(position / block_tokens);
    TRIREME_CHECK(index < blocks.size()) << "position " << position << " has no block";
    const std::int64_t block = blocks[index];
    TRIREME_CHECK(block >= 0 && block < num_blocks) << "block " << block << " of " << num_blocks;
    slots.push_back(block * block_tokens + position % block_tokens);
  }
}

// Neighbouring rows with the same adapter go together.
void add_adapter_rows(const scheduler::SequenceAdmission& admission, std::int64_t first_row, std::int64_t num_rows,
                      std::vector<model::AdapterRows>& adapters) {
  if (admission.adapter == 0) return;
  const std::size_t adapter = admission.adapter - 1;
  if (!adapters.empty()) {
    model::AdapterRows& last = adapters.back();
    if (last.adapter == adapter && last.first_row + last.num_rows == first_row) {
      last.num_rows += num_rows;
      return;
    }
  }
  adapters.push_back({first_row, num_rows, adapter});
}

}  // namespace

BuiltStep build_step(const scheduler::StepPlan& plan, SequenceTable& table, const kv_cache::KvCache& cache) {
  BuiltStep step;
  model::StepInput& input = step.input;
  input.groups.resize(static_cast<std::size_t>(cache.num_groups()));
  for (const scheduler::SequenceWork& work : plan.work) {
    const StageSequence& sequence = table.advance(work);
    const auto num_rows = static_cast<std::int64_t>(work.tokens.size());
    const std::int64_t first_row = input.num_rows();
    step.work.push_back({&work, &sequence, first_row});
    input.token_ids.insert(input.token_ids.end(), work.tokens.begin(), work.tokens.end());
    for (std::int32_t i = 0; i < num_rows; ++i) input.positions.push_back(work.first_position + i);
    add_adapter_rows(sequence.admission, first_row, num_rows, input.adapters);
    for (std::int32_t g = 0; g < cache.num_groups(); ++g) {
      const auto& blocks = sequence.blocks[static_cast<std::size_t>(g)];
      auto& group = input.groups[static_cast<std::size_t>(g)];
      add_slots(work.first_position, num_rows, blocks, cache.block_tokens(), cache.num_blocks(g), group.slots);
      group.sequences.push_back({first_row, num_rows, work.first_position, blocks.data()});
    }
  }
  return step;
}

}  // namespace trireme::worker
