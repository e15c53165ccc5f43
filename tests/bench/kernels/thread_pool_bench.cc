// The cost of one parallel_for, called back to back.
#include "tests/bench/kernels/bench_support.h"

namespace trireme::bench {
namespace {

void parallel_for_cost(benchmark::State& state) {
  kernels::ThreadPool pool(static_cast<int>(state.range(0)));
  for (auto _ : state) pool.parallel_for(state.range(0), [](std::int64_t) {});
}
BENCHMARK(parallel_for_cost)->Arg(1)->Arg(2)->Arg(4)->UseRealTime();

}  // namespace
}  // namespace trireme::bench
