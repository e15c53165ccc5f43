#include "tests/bench/kernels/read_bandwidth.h"

#include <cstdint>
#include <map>

#include "tests/bench/kernels/bench_support.h"

namespace trireme::bench {
namespace {

typedef std::uint64_t Vector __attribute__((vector_size(32)));

// Reads [data, data + bytes) in `kStreams` streams, `kAhead` bytes prefetched ahead (0: none).
template <std::size_t kStreams, std::size_t kAhead>
__attribute__((target("avx2"))) std::uint64_t read_all(const std::byte* data, std::size_t bytes) {
  Vector sums[4] = {};
  const std::size_t stream_bytes = bytes / kStreams;
  for (std::size_t i = 0; i + 128 <= stream_bytes; i += 128) {
    for (std::size_t s = 0; s < kStreams; ++s) {
      const auto* line = reinterpret_cast<const Vector*>(data + s * stream_bytes + i);
      if (kAhead > 0) {
        __builtin_prefetch(reinterpret_cast<const std::byte*>(line) + kAhead);
        __builtin_prefetch(reinterpret_cast<const std::byte*>(line) + kAhead + 64);
      }
      for (std::size_t v = 0; v < 4; ++v) sums[v] ^= line[v];
    }
  }
  const Vector sum = sums[0] ^ sums[1] ^ sums[2] ^ sums[3];
  return sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

using Reader = std::uint64_t (*)(const std::byte*, std::size_t);
constexpr Reader kReaders[] = {read_all<1, 0>, read_all<1, 1024>, read_all<1, 4096>, read_all<2, 0>, read_all<4, 1024>};

double measure(kernels::ThreadPool& pool) {
  const auto memory = filled_memory(beyond_cache_bytes());
  constexpr std::size_t kTaskBytes = std::size_t{1} << 20;
  const std::size_t num_tasks = memory.size() / kTaskBytes;
  double best = 0;
  for (const Reader reader : kReaders) {
    const double seconds = best_seconds([&] {
      pool.parallel_for(static_cast<std::int64_t>(num_tasks), [&](std::int64_t i) {
        benchmark::DoNotOptimize(reader(memory.data() + static_cast<std::size_t>(i) * kTaskBytes, kTaskBytes));
      });
    });
    best = std::max(best, static_cast<double>(num_tasks * kTaskBytes) * 1e-9 / seconds);
  }
  return best;
}

}  // namespace

double read_bandwidth_gbps(kernels::ThreadPool& pool) {
  static std::map<int, double> measured;  // a benchmark program has one thread
  const auto [entry, is_new] = measured.try_emplace(pool.num_threads(), 0.0);
  if (is_new) entry->second = measure(pool);
  return entry->second;
}

}  // namespace trireme::bench
