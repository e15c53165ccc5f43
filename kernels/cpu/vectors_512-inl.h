// The Isa of quantised_tile-inl.h for AVX-512 with VNNI, which the AMX kernels finish with too. Included once by the
// source file of each, after its target pragma. 8-bit weights become unsigned by adding 128; 128 times the input's sum
// is subtracted at the end.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace trireme::kernels::cpu {
namespace {

struct Avx512Vnni {
  static constexpr int kLanes = 16;
  static constexpr int kMaxInt8Rows = 12, kMaxGroupRows = 6;
  static constexpr std::int32_t kWeightOffset = 128;
  using Int = __m512i;
  using Float = __m512;

  // With a mask of all lanes: the plain forms make GCC 12 warn of an uninitialised vector (its bug 105593).
  static constexpr __mmask16 kAllLanes = 0xFFFF;

  static Int zero() { return _mm512_setzero_si512(); }
  static Int broadcast(std::int32_t x) { return _mm512_set1_epi32(x); }
  static Int sub(Int a, Int b) { return _mm512_sub_epi32(a, b); }
  static Float broadcast(float x) { return _mm512_set1_ps(x); }
  static Float to_float(Int a) { return _mm512_maskz_cvtepi32_ps(kAllLanes, a); }
  static Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Float load(const float* p) { return _mm512_loadu_ps(p); }
  static Float load_half(const std::uint16_t* p) {
    return _mm512_maskz_cvtph_ps(kAllLanes, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static Int load_bytes(const std::byte* p) { return _mm512_loadu_si512(p); }

  // The first `count` lanes, all where it is larger.
  static __mmask16 first_lanes(std::int64_t count) {
    return count >= kLanes ? kAllLanes : static_cast<__mmask16>((1u << count) - 1u);
  }
  static Float load_first(const float* p, std::int64_t count) { return _mm512_maskz_loadu_ps(first_lanes(count), p); }
  static void store_first(float* p, Float value, std::int64_t count) {
    if (count >= kLanes) {
      _mm512_storeu_ps(p, value);
    } else {
      _mm512_mask_storeu_ps(p, first_lanes(count), value);
    }
  }

  static Int low_nibbles(const std::byte* p) { return _mm512_and_si512(load_bytes(p), _mm512_set1_epi8(15)); }
  static Int high_nibbles(const std::byte* p) {
    return _mm512_and_si512(_mm512_srli_epi16(load_bytes(p), 4), _mm512_set1_epi8(15));
  }

  using Bytes = Int;
  static Bytes load_signed(const std::byte* p) { return _mm512_xor_si512(load_bytes(p), _mm512_set1_epi8(-128)); }
  static Int dot(Int sums, Bytes w, Int x) { return _mm512_dpbusd_epi32(sums, w, x); }

  using Nibbles = Int;
  static Nibbles dot_nibbles(Nibbles sums, Int w, Int x) { return _mm512_dpbusd_epi32(sums, w, x); }
  static Int sum_nibbles(Nibbles sums) { return sums; }
};

}  // namespace
}  // namespace trireme::kernels::cpu
