// Linear with quantised weights: the input is rounded once, then tasks multiply it with ranges of panels.
#include "kernels/cpu/linear.h"

#include "kernels/cpu/linear_task.h"
#include "kernels/cpu/quantise_rows.h"
#include "kernels/cpu/quantised_task.h"

namespace trireme::kernels::cpu {
namespace {

QuantisedTaskFunction* choose_task(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx2Vnni: return quantised_task_avx2_vnni;
    case InstructionSet::kAvx512Vnni: return quantised_task_avx512_vnni;
    case InstructionSet::kAmx: return quantised_task_amx;
    default: return quantised_task_avx2;
  }
}

}  // namespace

void linear_quantised(Context& context, const LinearArgs& args) {
  const PackedMatrixShape& shape = args.weights.shape;
  const QuantisedRows rows(shape, args.num_rows,
                           context.shared_scratch.reserve(QuantisedRows::bytes(shape, args.num_rows)));
  quantise_rows(context, args, rows);
  const auto run = choose_task(context.set);
  const LinearSplit split(args, context.pool.num_threads());
  context.thread_scratch.reserve(quantised_scratch_bytes(shape));
  context.pool.parallel_for(split.num_tasks(), [&](std::int64_t i) {
    const ScratchPool::Lease lease(context.thread_scratch);
    const LinearTask task = split.task(i);
    run({args, rows, task.row_begin, task.row_end, task.panel_begin, task.panel_end, lease.bytes()});
  });
}

}  // namespace trireme::kernels::cpu
