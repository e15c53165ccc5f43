#include "kernels/cpu_ops.h"

namespace trireme::kernels {

std::string_view to_string(InstructionSet set) {
  return set == InstructionSet::kAvx512 ? "avx512" : "avx2";
}

std::optional<InstructionSet> instruction_set_from_string(std::string_view name) {
  for (const InstructionSet set : {InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (name == to_string(set)) return set;
  }
  return std::nullopt;
}

// What Highway's AVX2 and AVX3 targets are compiled for; the builtins ask the operating system's support too.
std::vector<InstructionSet> available_instruction_sets() {
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi") &&
                        __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes") &&
                        __builtin_cpu_supports("pclmul");
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  std::vector<InstructionSet> sets;
  if (has_avx2) sets.push_back(InstructionSet::kAvx2);
  if (has_avx2 && has_avx512) sets.push_back(InstructionSet::kAvx512);
  return sets;
}

}  // namespace trireme::kernels
