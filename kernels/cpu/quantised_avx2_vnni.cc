// AVX-VNNI adds four products of unsigned and signed bytes to 32 bits, exactly. 8-bit weights become unsigned by adding
// 128; 128 times the input's sum is subtracted at the end.
#include "kernels/cpu/quantised_task.h"

#include <array>
#include <utility>

#include <immintrin.h>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c,avxvnni")
#include "kernels/cpu/quantised_tile-inl.h"
#include "kernels/cpu/vectors_256-inl.h"

namespace trireme::kernels::cpu {
namespace {

struct Avx2Vnni : Vectors256 {
  static constexpr int kMaxInt8Rows = 6, kMaxGroupRows = 2;
  static constexpr std::int32_t kWeightOffset = 128;

  using Bytes = __m256i;
  static Bytes load_signed(const std::byte* p) { return _mm256_xor_si256(load_bytes(p), _mm256_set1_epi8(-128)); }
  static Int dot(Int sums, Bytes w, Int x) { return _mm256_dpbusd_avx_epi32(sums, w, x); }

  using Nibbles = Int;
  static Nibbles dot_nibbles(Nibbles sums, Int w, Int x) { return _mm256_dpbusd_avx_epi32(sums, w, x); }
  static Int sum_nibbles(Nibbles sums) { return sums; }
};

}  // namespace

void quantised_task_avx2_vnni(const QuantisedTask& task) {
  run_quantised_task<Avx2Vnni>(task);
}

}  // namespace trireme::kernels::cpu
HWY_POP_ATTRIBUTES
