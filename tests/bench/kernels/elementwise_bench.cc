// The small operations, on activations of a prompt that lie in the cache: GB/s of input and output.
#include "tests/bench/kernels/bench_support.h"

namespace trireme::bench {
namespace {

using Call = void (*)(kernels::Ops&, std::vector<float>&, std::vector<float>&, std::int64_t rows);
constexpr std::int64_t kSize = 1536;

struct Operation {
  const char* name;
  Call call;
};

const Operation kOperations[] = {
    {"rms_norm",
     [](kernels::Ops& ops, std::vector<float>& x, std::vector<float>& y, std::int64_t rows) {
       ops.rms_norm({x.data(), kSize, x.data(), 1e-5f, y.data(), kSize, rows, 1, kSize}, {});
     }},
    {"silu",
     [](kernels::Ops& ops, std::vector<float>& x, std::vector<float>& y, std::int64_t rows) {
       ops.activation({x.data(), nullptr, kSize, y.data(), kSize, rows, kSize, kernels::Activation::kSilu}, {});
     }},
    {"gelu_tanh",
     [](kernels::Ops& ops, std::vector<float>& x, std::vector<float>& y, std::int64_t rows) {
       ops.activation({x.data(), nullptr, kSize, y.data(), kSize, rows, kSize, kernels::Activation::kGeluTanh}, {});
     }},
    {"add",
     [](kernels::Ops& ops, std::vector<float>& x, std::vector<float>& y, std::int64_t rows) {
       ops.add({x.data(), y.data(), rows * kSize}, {});
     }},
    {"log_sum_exp",
     [](kernels::Ops& ops, std::vector<float>& x, std::vector<float>& y, std::int64_t rows) {
       ops.log_sum_exp({x.data(), y.data(), rows, kSize}, {});
     }},
    {"rope",
     [](kernels::Ops& ops, std::vector<float>& x, std::vector<float>& y, std::int64_t rows) {
       ops.rope({y.data(), kSize, x.data(), rows, kSize / 64, 64, 64}, {});
     }},
};

void elementwise(benchmark::State& state, kernels::InstructionSet set, int threads, const Operation& operation,
                 std::int64_t rows) {
  Backend backend(set, threads);
  std::vector<float> x(static_cast<std::size_t>(rows * kSize), 0.5f), y(x.size(), 0.25f);
  run_benchmark(
      state, [&] { operation.call(*backend.ops, x, y, rows); },
      [&](double seconds) { state.counters["GB/s"] = 8e-9 * static_cast<double>(rows * kSize) / seconds; });
}

const bool kRegistered = [] {
  for (const auto set : instruction_sets()) {
    for (const int threads : thread_counts()) {
      for (const Operation& operation : kOperations) {
        for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{512}}) {
          const std::string name = std::string(operation.name) + "/" + std::string(to_string(set)) +
                                   "/threads:" + std::to_string(threads) + "/rows:" + std::to_string(rows);
          benchmark::RegisterBenchmark(name.c_str(), elementwise, set, threads, operation, rows)
              ->UseManualTime()
              ->MinTime(0.1)
              ->Unit(benchmark::kMicrosecond);
        }
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace trireme::bench
