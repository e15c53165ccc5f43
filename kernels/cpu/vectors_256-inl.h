// The part of an Isa of quantised_tile-inl.h that all instruction sets of 256 bits share (AVX2, FMA, F16C). Included
// once by the source file of each of them, after its target pragma.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace trireme::kernels::cpu {
namespace {

struct Vectors256 {
  static constexpr int kLanes = 8;
  using Int = __m256i;
  using Float = __m256;

  static Int zero() { return _mm256_setzero_si256(); }
  static Int broadcast(std::int32_t x) { return _mm256_set1_epi32(x); }
  static Int sub(Int a, Int b) { return _mm256_sub_epi32(a, b); }
  static Float broadcast(float x) { return _mm256_set1_ps(x); }
  static Float to_float(Int a) { return _mm256_cvtepi32_ps(a); }
  static Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float load(const float* p) { return _mm256_loadu_ps(p); }
  static Float load_half(const std::uint16_t* p) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Int load_bytes(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }

  // The first `count` lanes, all where it is larger.
  static Int first_lanes(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static Float load_first(const float* p, std::int64_t count) {
    return count >= kLanes ? load(p) : _mm256_maskload_ps(p, first_lanes(count));
  }
  static void store_first(float* p, Float value, std::int64_t count) {
    if (count >= kLanes) {
      _mm256_storeu_ps(p, value);
    } else {
      _mm256_maskstore_ps(p, first_lanes(count), value);
    }
  }

  static Int low_nibbles(const std::byte* p) { return _mm256_and_si256(load_bytes(p), _mm256_set1_epi8(15)); }
  static Int high_nibbles(const std::byte* p) {
    return _mm256_and_si256(_mm256_srli_epi16(load_bytes(p), 4), _mm256_set1_epi8(15));
  }
};

}  // namespace
}  // namespace trireme::kernels::cpu
