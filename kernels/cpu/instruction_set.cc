#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/cpu_ops.h"

namespace trireme::kernels {
namespace {

// CPUID leaf 1 (Intel SDM volume 2, CPUID), for what the builtins of Clang 14 do not know.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 29 & 1u) != 0;
}

// What Highway's AVX2 and AVX3 targets are compiled for; the builtins ask the operating system's support too.
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c() &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("aes") &&
         __builtin_cpu_supports("pclmul");
}
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

// CPUID leaf 7, for what the builtins of GCC 12 do not know (Intel SDM volume 2, CPUID).
bool has_avx_vnni() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax >> 4 & 1u) != 0;
}
bool has_amx_int8() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  const bool has_tile = (edx >> 24 & 1u) != 0, has_int8 = (edx >> 25 & 1u) != 0;
  return has_tile && has_int8;
}

// Linux hands out the 8 KiB of tile registers on request, once for all threads of a process
// (Documentation/x86/xstate.rst).
bool may_use_tiles() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace

std::string_view to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx2: return "avx2";
    case InstructionSet::kAvx2Vnni: return "avx2_vnni";
    case InstructionSet::kAvx512: return "avx512";
    case InstructionSet::kAvx512Vnni: return "avx512_vnni";
    case InstructionSet::kAmx: return "amx";
  }
  return "?";
}

std::optional<InstructionSet> instruction_set_from_string(std::string_view name) {
  for (const InstructionSet set : kAllInstructionSets) {
    if (name == to_string(set)) return set;
  }
  return std::nullopt;
}

std::vector<InstructionSet> available_instruction_sets() {
  __builtin_cpu_init();
  std::vector<InstructionSet> sets;
  if (!has_avx2()) return sets;
  sets.push_back(InstructionSet::kAvx2);
  if (has_avx_vnni()) sets.push_back(InstructionSet::kAvx2Vnni);
  if (!has_avx512()) return sets;
  sets.push_back(InstructionSet::kAvx512);
  if (!__builtin_cpu_supports("avx512vnni")) return sets;
  sets.push_back(InstructionSet::kAvx512Vnni);
  if (has_amx_int8() && may_use_tiles()) sets.push_back(InstructionSet::kAmx);
  return sets;
}

}  // namespace trireme::kernels
