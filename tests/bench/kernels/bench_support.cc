#include "tests/bench/kernels/bench_support.h"

#include <unistd.h>

#include <cstdint>
#include <thread>

namespace trireme::bench {

std::vector<kernels::InstructionSet> instruction_sets() {
  return kernels::available_instruction_sets();
}

std::vector<int> thread_counts() {
  const int all = static_cast<int>(std::thread::hardware_concurrency());
  return all > 1 ? std::vector<int>{1, all} : std::vector<int>{1};
}

std::size_t beyond_cache_bytes() {
  const long cache = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::max<std::size_t>(std::size_t{512} << 20, 4 * static_cast<std::size_t>(std::max(cache, 0L)));
}

base::AlignedBuffer<std::byte> filled_memory(std::size_t bytes) {
  base::AlignedBuffer<std::byte> memory((bytes + 3) / 4 * 4);
  auto* words = reinterpret_cast<std::uint32_t*>(memory.data());
  // 0x2CC0 is 0.0742 as f16, and 2c2cc0 … as f32 or bf16 is a small normal number.
  for (std::size_t i = 0; i < memory.size() / 4; ++i) words[i] = 0x2CC02CC0u + static_cast<std::uint32_t>(i % 61);
  return memory;
}

}  // namespace trireme::bench
