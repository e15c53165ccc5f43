// What every CPU operation is given by CpuOps: the instruction set to use, the threads, and memory that lasts.
#pragma once

#include "kernels/cpu/attention_task.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu_ops.h"

namespace trireme::kernels::cpu {

struct Context {
  InstructionSet set;
  ThreadPool& pool;
  ScratchPool thread_scratch;  // one buffer per running task
  Scratch shared_scratch;      // one buffer per operation
  AttentionPlan attention_plan;
};

// Picks the variant of a function compiled for the context's instruction set.
template <typename Function>
Function* choose(const Context& context, Function* avx2, Function* avx512) {
  return context.set >= InstructionSet::kAvx512 ? avx512 : avx2;
}

}  // namespace trireme::kernels::cpu
