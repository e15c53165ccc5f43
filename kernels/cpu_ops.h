// The SIMD back end of the CPU, and which instruction sets this processor has.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/ops.h"
#include "kernels/thread_pool.h"

namespace trireme::kernels {

// In ascending order of speed; a processor need not have all before one that it has. The sets from kAvx512 on give the
// same bits as each other, and so do those before it; they differ in how they multiply bytes.
enum class InstructionSet { kAvx2, kAvx2Vnni, kAvx512, kAvx512Vnni, kAmx };

inline constexpr std::array kAllInstructionSets = {InstructionSet::kAvx2, InstructionSet::kAvx2Vnni,
                                                   InstructionSet::kAvx512, InstructionSet::kAvx512Vnni,
                                                   InstructionSet::kAmx};

std::string_view to_string(InstructionSet set);  // "avx2", "avx512": the names that Ops::name() gives too
std::optional<InstructionSet> instruction_set_from_string(std::string_view name);

// What this processor can run, ascending; empty where it has not even AVX2 with FMA and F16C (then only reference ops
// work). Asks the operating system to let this process use AMX.
std::vector<InstructionSet> available_instruction_sets();

// `pool` outlives the result. Precondition: `set` is available.
std::unique_ptr<Ops> make_cpu_ops(InstructionSet set, ThreadPool& pool);

}  // namespace trireme::kernels
