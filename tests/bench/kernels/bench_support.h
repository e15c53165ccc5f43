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

namespace trireme::bench {

// Runs once to warm up, then at least 5 times and 0.3 s; the shortest run.
template <typename Function>
double best_seconds(const Function& function) {
  using Clock = std::chrono::steady_clock;
  function();
  double best = 1e30;
  const auto begin = Clock::now();
  for (int run = 0; run < 5 || Clock::now() - begin < std::chrono::milliseconds(300); ++run) {
    const auto start = Clock::now();
    function();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

// Back ends under test, made once per number of threads.
struct Backend {
  Backend(kernels::InstructionSet set, int num_threads) : pool(num_threads), ops(kernels::make_cpu_ops(set, pool)) {}
  kernels::ThreadPool pool;
  std::unique_ptr<kernels::Ops> ops;
};

// Instruction sets of this machine, by index; and the numbers of threads to measure with: 1 and all.
std::vector<kernels::InstructionSet> instruction_sets();
std::vector<int> thread_counts();

// Bytes that are four times as large as the last-level cache, and at least 512 MiB: reading them is reading memory.
std::size_t beyond_cache_bytes();

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
