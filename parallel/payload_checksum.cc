#include "parallel/payload_checksum.h"

#include <cstring>

#include "base/check.h"

namespace trireme::parallel {
namespace {

typedef std::uint64_t Vector16 __attribute__((vector_size(16)));
typedef std::uint64_t Vector32 __attribute__((vector_size(32)));
typedef std::uint64_t Vector64 __attribute__((vector_size(64)));

}  // namespace

// The same sums whatever the size of a vector.
template <typename Vector>
[[gnu::always_inline]] inline void PayloadChecksum::add_blocks(const std::byte* data, std::size_t num_blocks,
                                                               Sums& sums) {
  constexpr std::size_t kVectors = kBlockBytes / sizeof(Vector);
  Vector words[kVectors], sums_of_words[kVectors], block[kVectors];
  std::memcpy(words, sums.words.data(), kBlockBytes);
  std::memcpy(sums_of_words, sums.sums.data(), kBlockBytes);
  for (std::size_t i = 0; i < num_blocks; ++i) {
    std::memcpy(block, data + i * kBlockBytes, kBlockBytes);
    for (std::size_t v = 0; v < kVectors; ++v) {
      words[v] += block[v];
      sums_of_words[v] += words[v];
    }
  }
  std::memcpy(sums.words.data(), words, kBlockBytes);
  std::memcpy(sums.sums.data(), sums_of_words, kBlockBytes);
}

void PayloadChecksum::add_blocks_baseline(const std::byte* data, std::size_t num_blocks, Sums& sums) {
  add_blocks<Vector16>(data, num_blocks, sums);
}

__attribute__((target("avx2"))) void PayloadChecksum::add_blocks_avx2(const std::byte* data, std::size_t num_blocks,
                                                                      Sums& sums) {
  add_blocks<Vector32>(data, num_blocks, sums);
}

__attribute__((target("avx512f"))) void PayloadChecksum::add_blocks_avx512(const std::byte* data,
                                                                           std::size_t num_blocks, Sums& sums) {
  add_blocks<Vector64>(data, num_blocks, sums);
}

void PayloadChecksum::add(std::span<const std::byte> bytes) {
  using AddBlocks = void (*)(const std::byte*, std::size_t, Sums&);
  static const AddBlocks add_blocks_here = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return &add_blocks_avx512;
    return __builtin_cpu_supports("avx2") ? &add_blocks_avx2 : &add_blocks_baseline;
  }();
  TRIREME_CHECK(num_bytes_ % kBlockBytes == 0) << "nothing may follow an incomplete block";
  num_bytes_ += bytes.size();
  const std::size_t num_blocks = bytes.size() / kBlockBytes;
  add_blocks_here(bytes.data(), num_blocks, sums_);
  const std::span rest = bytes.subspan(num_blocks * kBlockBytes);
  if (!rest.empty()) std::memcpy(rest_.data(), rest.data(), rest.size());
}

std::uint64_t PayloadChecksum::value() const {
  std::uint64_t result = num_bytes_;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (const std::uint64_t part : {sums_.words[lane], sums_.sums[lane], rest_[lane]}) {
      result = (result ^ part) * 0x9E3779B97F4A7C15u;  // odd: a bijection, so one changed part always shows
      result ^= result >> 32;
    }
  }
  return result;
}

}  // namespace trireme::parallel
