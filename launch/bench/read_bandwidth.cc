#include "launch/bench/read_bandwidth.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "launch/bench/repetitions.h"

namespace trireme::launch {
namespace {

constexpr std::size_t kTaskBytes = std::size_t{1} << 20;
constexpr std::size_t kCacheLineBytes = 64;

// Makes the compiler believe that `value` is used.
void keep(std::uint64_t value) {
  asm volatile("" : : "r"(value));
}

// Reads [data, data + bytes) in `kStreams` streams, `kAhead` bytes prefetched ahead (0: none).
template <typename Vector, std::size_t kStreams, std::size_t kAhead>
[[gnu::always_inline]] inline std::uint64_t read_all(const std::byte* data, std::size_t bytes) {
  constexpr std::size_t kVectors = 4, kStepBytes = kVectors * sizeof(Vector);
  Vector sums[kVectors] = {};
  const std::size_t stream_bytes = bytes / kStreams;
  for (std::size_t i = 0; i + kStepBytes <= stream_bytes; i += kStepBytes) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const std::byte* at = data + s * stream_bytes + i;
      for (std::size_t line = 0; kAhead > 0 && line < kStepBytes; line += kCacheLineBytes) {
        __builtin_prefetch(at + kAhead + line);
      }
      for (std::size_t v = 0; v < kVectors; ++v) sums[v] ^= reinterpret_cast<const Vector*>(at)[v];
    }
  }
  const Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  std::uint64_t word = 0;
  std::memcpy(&word, &sum, sizeof word);
  return word;
}

typedef std::uint64_t Vector32 __attribute__((vector_size(32)));
typedef std::uint64_t Vector64 __attribute__((vector_size(64)));

template <std::size_t kStreams, std::size_t kAhead>
__attribute__((target("avx2"))) void read_avx2(const std::byte* data, std::size_t bytes) {
  keep(read_all<Vector32, kStreams, kAhead>(data, bytes));
}

template <std::size_t kStreams, std::size_t kAhead>
__attribute__((target("avx512f"))) void read_avx512(const std::byte* data, std::size_t bytes) {
  keep(read_all<Vector64, kStreams, kAhead>(data, bytes));
}

using Reader = void(const std::byte*, std::size_t);

std::vector<Reader*> readers() {
  __builtin_cpu_init();
  std::vector<Reader*> result;
  if (__builtin_cpu_supports("avx2")) {
    result = {read_avx2<1, 0>, read_avx2<1, 1024>, read_avx2<1, 4096>, read_avx2<2, 0>, read_avx2<4, 1024>};
  }
  if (__builtin_cpu_supports("avx512f")) {
    result.insert(result.end(), {read_avx512<1, 0>, read_avx512<1, 4096>, read_avx512<4, 1024>});
  }
  return result;
}

}  // namespace

std::size_t beyond_cache_bytes(std::size_t available_bytes) {
  constexpr std::size_t kLeast = std::size_t{512} << 20;
  const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  const std::size_t wanted = std::max(kLeast, 4 * static_cast<std::size_t>(std::max(cache, 0L)));
  return std::max(kTaskBytes, std::min(wanted, available_bytes / 4) / kTaskBytes * kTaskBytes);
}

ReadBandwidth::ReadBandwidth(std::size_t bytes, kernels::ThreadPool& pool) : pool_(pool), memory_(bytes) {
  memory_.prefer_huge_pages();
  pool_.parallel_for(static_cast<std::int64_t>(bytes / kTaskBytes), [&](std::int64_t task) {
    std::memset(memory_.data() + static_cast<std::size_t>(task) * kTaskBytes, 1, kTaskBytes);
  });
}

double ReadBandwidth::pass(void (*reader)(const std::byte*, std::size_t)) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  pool_.parallel_for(static_cast<std::int64_t>(memory_.size() / kTaskBytes), [&](std::int64_t task) {
    reader(memory_.data() + static_cast<std::size_t>(task) * kTaskBytes, kTaskBytes);
  });
  return static_cast<double>(memory_.size()) * 1e-9 / std::chrono::duration<double>(Clock::now() - start).count();
}

double ReadBandwidth::measure(int passes) {
  const std::vector<Reader*> all = readers();
  std::vector<Repetitions> rates(all.size());
  for (int i = 0; i < passes; ++i) {
    for (std::size_t reader = 0; reader < all.size(); ++reader) rates[reader].add(pass(all[reader]));
  }
  double fastest = 0.0;
  for (const Repetitions& rate : rates) fastest = std::max(fastest, rate.median());
  return fastest;
}

}  // namespace trireme::launch
