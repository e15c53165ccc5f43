#include "tests/bench/kernels/bench_support.h"

#include <cstdint>
#include <map>
#include <thread>
#include <tuple>

#include "launch/bench/read_bandwidth.h"
#include "runtime/device/host_memory.h"

namespace trireme::bench {

std::vector<kernels::InstructionSet> instruction_sets() {
  return kernels::available_instruction_sets();
}

std::vector<int> thread_counts() {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

std::size_t beyond_cache_bytes() {
  return launch::beyond_cache_bytes(static_cast<std::size_t>(device::read_host_memory().usable_bytes()));
}

double read_bandwidth_gbps(kernels::ThreadPool& pool) {
  static std::map<int, double> measured;  // a benchmark program has one thread
  const auto [entry, is_new] = measured.try_emplace(pool.num_threads(), 0.0);
  if (is_new) entry->second = launch::ReadBandwidth(beyond_cache_bytes(), pool).measure(3);
  return entry->second;
}

double sgemm_gflops(const launch::GemmShape& shape, int num_threads) {
  static std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, int>, double> measured;
  static const launch::GemmLibraries libraries = launch::load_gemm_libraries();
  const auto [entry, is_new] =
      measured.try_emplace({shape.rows, shape.out_features, shape.in_features, num_threads}, 0.0);
  for (std::size_t i = 0; is_new && i < libraries.loaded.size(); ++i) {
    const double seconds = libraries.loaded[i]->f32_seconds(shape, num_threads);
    if (seconds > 0.0) entry->second = std::max(entry->second, shape.operations() * 1e-9 / seconds);
  }
  return entry->second;
}

base::AlignedBuffer<std::byte> filled_memory(std::size_t bytes) {
  base::AlignedBuffer<std::byte> memory((bytes + 3) / 4 * 4);
  memory.prefer_huge_pages();  // as the KV pool and weights have them
  auto* words = reinterpret_cast<std::uint32_t*>(memory.data());
  // 0x2CC0 is 0.0742 as f16, and 2c2cc0 … as f32 or bf16 is a small normal number.
  for (std::size_t i = 0; i < memory.size() / 4; ++i) words[i] = 0x2CC02CC0u + static_cast<std::uint32_t>(i % 61);
  return memory;
}

}  // namespace trireme::bench
