// The SIMD back end of the CPU, and which instruction sets this processor has.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/ops.h"
#include "kernels/thread_pool.h"

namespace trireme::kernels {

// In ascending order: a rank that has one has all before it.
enum class InstructionSet { kAvx2, kAvx512 };

std::string_view to_string(InstructionSet set);  // "avx2", "avx512": the names that Ops::name() gives too
std::optional<InstructionSet> instruction_set_from_string(std::string_view name);

// What this processor can run; empty where it has not even AVX2 with FMA and F16C (then only reference ops work).
std::vector<InstructionSet> available_instruction_sets();

// `pool` outlives the result. Precondition: `set` is available.
std::unique_ptr<Ops> make_cpu_ops(InstructionSet set, ThreadPool& pool);

}  // namespace trireme::kernels
