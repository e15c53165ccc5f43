// AVX2 multiplies unsigned by signed bytes and adds pairs in 16 bits, saturating. So that nothing saturates:
// - 8-bit weights: |w| * (x with the sign of w); a pair is within 2 * 127 * 127.
// - 4-bit weights are unsigned; the 8 pairs of a group add up to at most 8 * 2 * 15 * 127, still within 16 bits.
#include "kernels/cpu/quantised_task.h"

#include <array>
#include <utility>

#include <immintrin.h>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("avx2,fma,f16c")
#include "kernels/cpu/quantised_tile-inl.h"
#include "kernels/cpu/vectors_256-inl.h"

namespace trireme::kernels::cpu {
namespace {

struct Avx2 : Vectors256 {
  static constexpr int kMaxInt8Rows = 4, kMaxGroupRows = 2;
  static constexpr std::int32_t kWeightOffset = 0;

  struct Bytes {
    __m256i weights, magnitudes;
  };
  static Bytes load_signed(const std::byte* p) {
    const __m256i weights = load_bytes(p);
    return {weights, _mm256_abs_epi8(weights)};
  }
  static Int dot(Int sums, Bytes w, Int x) {
    const __m256i pairs = _mm256_maddubs_epi16(w.magnitudes, _mm256_sign_epi8(x, w.weights));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }

  using Nibbles = __m256i;  // 16-bit sums of pairs
  static Nibbles dot_nibbles(Nibbles sums, Int w, Int x) { return _mm256_add_epi16(sums, _mm256_maddubs_epi16(w, x)); }
  static Int sum_nibbles(Nibbles sums) { return _mm256_madd_epi16(sums, _mm256_set1_epi16(1)); }
};

}  // namespace

void quantised_task_avx2(const QuantisedTask& task) {
  run_quantised_task<Avx2>(task);
}

}  // namespace trireme::kernels::cpu
HWY_POP_ATTRIBUTES
