// ReadBandwidth: the rate at which threads can read memory, which is the limit of decoding.
#pragma once

#include <cstddef>

#include "base/aligned_buffer.h"
#include "kernels/thread_pool.h"

namespace trireme::launch {

// Four times the last-level cache and at least 512 MiB, so that reading it is reading memory; less where a quarter of
// `available_bytes` is less.
std::size_t beyond_cache_bytes(std::size_t available_bytes);

class ReadBandwidth {
 public:
  // Holds `bytes` of memory, in huge pages where the kernel has them, filled by the threads of `pool`.
  ReadBandwidth(std::size_t bytes, kernels::ThreadPool& pool);

  // GB/s of the fastest of several read kernels (streams, prefetch distances, instruction sets), all threads together;
  // each has the median of `passes` passes, at least one: the best of many would be a moment's luck, which no work that
  // lasts can reach. 0 on a processor without AVX2.
  double measure(int passes);

 private:
  double pass(void (*reader)(const std::byte*, std::size_t));

  kernels::ThreadPool& pool_;
  base::AlignedBuffer<std::byte> memory_;
};

}  // namespace trireme::launch
