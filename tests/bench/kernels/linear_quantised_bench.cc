// Linear with quantised weights: few rows against the memory's read rate, many rows in operations per second.
#include "tests/bench/kernels/bench_support.h"

namespace trireme::bench {
namespace {

using kernels::WeightFormat;

struct Shape {
  const char* name;
  std::int64_t out_features, in_features;
};
constexpr Shape kShapes[] = {{"qkv", 960, 576}, {"gate_up", 3072, 576}, {"down", 576, 1536}, {"head", 49152, 576}};
constexpr WeightFormat kFormats[] = {WeightFormat::kInt8, WeightFormat::kQ8_0, WeightFormat::kQ4_0,
                                     WeightFormat::kQ4_1};

struct Case {
  kernels::InstructionSet set;
  int threads;
  WeightFormat format;
  Shape shape;
  std::int64_t rows;
  bool from_memory;  // another copy of the weights in each call, so that they come from memory as in a model
};

void quantised_linear(benchmark::State& state, const Case& c) {
  Backend backend(c.set, c.threads);
  const kernels::PackedMatrixShape shape{c.format, c.shape.out_features, c.shape.in_features};
  const auto memory = filled_memory(c.from_memory ? beyond_cache_bytes() : shape.bytes());
  const std::size_t num_copies = std::max<std::size_t>(1, memory.size() / shape.bytes());
  // Enough calls for a run of some milliseconds.
  const std::size_t num_calls = c.from_memory ? std::max<std::size_t>(1, (std::size_t{64} << 20) / shape.bytes()) : 1;
  std::vector<float> input(static_cast<std::size_t>(c.rows * shape.in_features), 0.5f);
  std::vector<float> output(static_cast<std::size_t>(c.rows * shape.out_features));
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
                           c.rows,
                           kernels::OutputMode::kOverwrite},
                          {});
    }
  };
  run_benchmark(state, run, [&](double seconds) {
    const auto calls = static_cast<double>(num_calls);
    const double rate = static_cast<double>(shape.bytes()) * calls * 1e-9 / seconds;
    state.counters["GB/s"] = rate;
    if (c.from_memory) state.counters["of_limit"] = rate / read_bandwidth_gbps(backend.pool);
    state.counters["GOP/s"] =
        2e-9 * static_cast<double>(c.rows * shape.in_features * shape.out_features) * calls / seconds;
  });
}

void add(const Case& c) {
  const std::string name = std::string(c.from_memory ? "quantised_memory/" : "quantised_arithmetic/") +
                           std::string(to_string(c.set)) + "/threads:" + std::to_string(c.threads) + "/" +
                           std::string(to_string(c.format)) + "/" + c.shape.name + "/rows:" + std::to_string(c.rows);
  benchmark::RegisterBenchmark(name.c_str(), quantised_linear, c)
      ->UseManualTime()
      ->MinTime(0.2)
      ->Unit(benchmark::kMicrosecond);
}

const bool kRegistered = [] {
  for (const auto set : instruction_sets()) {
    for (const int threads : thread_counts()) {
      for (const WeightFormat format : kFormats) {
        for (const Shape& shape : kShapes) {
          for (const std::int64_t rows : {1, 4, 16, 32}) add({set, threads, format, shape, rows, true});
          for (const std::int64_t rows : {16, 64, 512}) add({set, threads, format, shape, rows, false});
        }
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace trireme::bench
