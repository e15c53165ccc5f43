// Linear: few rows against the memory's read rate, many rows against the products of OpenBLAS and oneDNN.
#include "tests/bench/kernels/bench_support.h"

namespace trireme::bench {
namespace {

struct Weights {
  const char* name;
  std::int64_t out_features, in_features;
};
constexpr Weights kWeights[] = {
    {"qkv", 960, 576}, {"gate_up", 3072, 576}, {"down", 576, 1536}, {"head", 49152, 576}, {"wide", 2048, 2048}};

// Reads another copy of the weights in each call, so that they come from memory as in a model.
void linear_from_memory(benchmark::State& state, kernels::InstructionSet set, int threads, const Weights& weights,
                        std::int64_t rows) {
  Backend backend(set, threads);
  const kernels::PackedMatrixShape shape{kernels::WeightFormat::kF16, weights.out_features, weights.in_features};
  static const auto memory = filled_memory(beyond_cache_bytes());
  const std::size_t num_copies = memory.size() / shape.bytes();
  std::vector<float> input(static_cast<std::size_t>(rows * shape.in_features), 0.5f);
  std::vector<float> output(static_cast<std::size_t>(rows * shape.out_features));
  // Enough calls for a run of some milliseconds.
  const std::size_t num_calls = std::max<std::size_t>(1, (std::size_t{64} << 20) / shape.bytes());
  std::size_t copy = 0;
  const auto run = [&] {
    for (std::size_t i = 0; i < num_calls; ++i) {
      copy = (copy + 1) % num_copies;
      backend.ops->linear({input.data(),
                           shape.in_features,
                           {shape, memory.data() + copy * shape.bytes()},
                           nullptr,
                           output.data(),
                           shape.out_features,
                           rows,
                           kernels::OutputMode::kOverwrite},
                          {});
    }
  };
  run_benchmark(state, run, [&](double seconds) {
    const double rate = static_cast<double>(shape.bytes() * num_calls) * 1e-9 / seconds;
    state.counters["GB/s"] = rate;
    state.counters["of_limit"] = rate / read_bandwidth_gbps(backend.pool);
    state.counters["GFLOP/s"] = 2e-9 * static_cast<double>(rows * shape.in_features * shape.out_features) *
                                static_cast<double>(num_calls) / seconds;
  });
}

void linear_many_rows(benchmark::State& state, kernels::InstructionSet set, int threads, const Weights& weights,
                      std::int64_t rows) {
  Backend backend(set, threads);
  const kernels::PackedMatrixShape shape{kernels::WeightFormat::kF16, weights.out_features, weights.in_features};
  const auto memory = filled_memory(shape.bytes());
  std::vector<float> input(static_cast<std::size_t>(rows * shape.in_features), 0.5f);
  std::vector<float> output(static_cast<std::size_t>(rows * shape.out_features));
  const auto run = [&] {
    backend.ops->linear({input.data(),
                         shape.in_features,
                         {shape, memory.data()},
                         nullptr,
                         output.data(),
                         shape.out_features,
                         rows,
                         kernels::OutputMode::kOverwrite},
                        {});
  };
  run_benchmark(state, run, [&](double seconds) {
    const double rate = 2e-9 * static_cast<double>(rows * shape.in_features * shape.out_features) / seconds;
    const double limit = sgemm_gflops({rows, shape.out_features, shape.in_features}, threads);
    state.counters["GFLOP/s"] = rate;
    state.counters["sgemm"] = limit;
    state.counters["of_limit"] = limit > 0 ? rate / limit : 0;
  });
}

template <typename Body>
void add_cases(const char* kind, const std::vector<std::int64_t>& row_counts, const Body& body) {
  for (const auto set : instruction_sets()) {
    for (const int threads : thread_counts()) {
      for (const Weights& weights : kWeights) {
        for (const std::int64_t rows : row_counts) {
          const std::string name = std::string(kind) + "/" + std::string(to_string(set)) +
                                   "/threads:" + std::to_string(threads) + "/" + weights.name +
                                   "/rows:" + std::to_string(rows);
          benchmark::RegisterBenchmark(name.c_str(), body, set, threads, weights, rows)
              ->UseManualTime()
              ->MinTime(0.2)
              ->Unit(benchmark::kMicrosecond);
        }
      }
    }
  }
}

const bool kRegistered = [] {
  add_cases("linear_memory", {1, 2, 4, 8, 16, 32}, linear_from_memory);
  add_cases("linear_arithmetic", {16, 32, 64, 512}, linear_many_rows);
  return true;
}();

}  // namespace
}  // namespace trireme::bench
