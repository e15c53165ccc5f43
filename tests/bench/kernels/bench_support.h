// What the kernel benchmarks share: timing by the best of many runs (other work on the machine only ever slows one
// down), the back ends under test, and memory that no cache holds.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/cpu_ops.h"
#include "kernels/ops.h"
#include "launch/bench/gemm_library.h"

namespace trireme::bench {

// Back ends under test, made once per number of threads.
struct Backend {
  Backend(kernels::InstructionSet set, int num_threads) : pool(num_threads), ops(kernels::make_cpu_ops(set, pool)) {}
  kernels::ThreadPool pool;
  std::unique_ptr<kernels::Ops> ops;
};

// Instruction sets of this machine, by index; and the numbers of threads to measure with: 1 and all.
std::vector<kernels::InstructionSet> instruction_sets();
std::vector<int> thread_counts();

// So many bytes that reading them is reading memory (launch/bench/read_bandwidth.h).
std::size_t beyond_cache_bytes();

// The machine's limits with the threads of `pool` and with so many threads, each measured once: the rate at which
// memory is read, in GB/s, and of the best library's float32 product, in GFLOP/s (0 where none was found).
double read_bandwidth_gbps(kernels::ThreadPool& pool);
double sgemm_gflops(const launch::GemmShape& shape, int num_threads);

// Filled with small values that are neither zero nor subnormal in any weight type.
base::AlignedBuffer<std::byte> filled_memory(std::size_t bytes);

// A benchmark that times `function` and reports its best run; `report` sets counters from that.
template <typename Function, typename Report>
void run_benchmark(benchmark::State& state, const Function& function, const Report& report) {
  double best = 1e30;
  function();
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    function();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    state.SetIterationTime(seconds);
    best = std::min(best, seconds);
  }
  state.counters["best_us"] = best * 1e6;
  report(best);
}

}  // namespace trireme::bench
