// Time that rank 0 spends on one step: schedule, encode, decode the result, update. Run: scheduler_bench.
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "scheduler/scheduler.h"

namespace trireme::scheduler {
namespace {

std::shared_ptr<const Request> request_of(std::uint64_t id, std::int32_t prompt_length, std::int32_t max_tokens) {
  auto request = std::make_shared<Request>();
  request->id = RequestId{id};
  for (std::int32_t i = 0; i < prompt_length; ++i) {
    request->prompt.push_back(static_cast<TokenId>((id * 31 + static_cast<std::uint64_t>(i)) % 50000));
  }
  request->max_tokens = max_tokens;
  return request;
}

SchedulerConfig config_of(std::int32_t num_blocks) {
  SchedulerConfig config;
  config.max_step_tokens = 2048;
  config.context_cost = 1e-4;
  config.max_batch = 512;
  config.max_context = 1 << 20;
  config.block_tokens = 20;
  config.kv_groups = {{0, num_blocks}, {512, num_blocks}};
  return config;
}

StepResult answer(const StepPlan& plan) {
  StepResult result;
  result.step = plan.step;
  for (const SequenceWork& work : plan.work) {
    if (work.sample) result.sampled.push_back({work.sequence, 7, 0.0f, {}, false});
  }
  return result;
}

// One step of state.range(0) decoding sequences while state.range(1) wait for a place.
void BM_DecodeStep(benchmark::State& state) {
  const auto num_decoding = static_cast<std::int32_t>(state.range(0));
  SchedulerConfig config = config_of(1 << 18);
  config.max_batch = num_decoding;
  Scheduler scheduler(config);
  const TimePoint now{};
  std::uint64_t id = 0;
  for (std::int32_t i = 0; i < num_decoding; ++i) (void)scheduler.add(request_of(++id, 400, 1 << 19), 0, now);
  while (scheduler.stats().num_running < num_decoding) scheduler.update(answer(*scheduler.schedule(now)), now);
  for (std::int64_t i = 0; i < state.range(1); ++i) (void)scheduler.add(request_of(++id, 400, 10), 0, now);
  std::size_t num_bytes = 0;
  for (auto _ : state) {
    const std::optional<StepPlan> plan = scheduler.schedule(now);
    const std::vector<std::byte> bytes = encode(*plan);
    num_bytes += bytes.size();
    state.PauseTiming();
    const std::vector<std::byte> received = encode(answer(*plan));
    state.ResumeTiming();
    benchmark::DoNotOptimize(scheduler.update(*decode_step_result(received), now));
  }
  state.counters["plan_bytes"] = static_cast<double>(num_bytes) / static_cast<double>(state.iterations());
}
BENCHMARK(BM_DecodeStep)->Args({1, 0})->Args({64, 0})->Args({64, 10000})->Args({256, 0})->Iterations(4000);

// A step with a pool so full that the head of a long queue cannot be admitted.
void BM_BlockedQueueStep(benchmark::State& state) {
  SchedulerConfig config = config_of(64 * 100);
  Scheduler scheduler(config);
  const TimePoint now{};
  std::uint64_t id = 0;
  for (int i = 0; i < 64; ++i) (void)scheduler.add(request_of(++id, 1000, 900), 0, now);
  while (scheduler.stats().num_running < 64) scheduler.update(answer(*scheduler.schedule(now)), now);
  for (std::int64_t i = 0; i < state.range(0); ++i) (void)scheduler.add(request_of(++id, 100000, 10), 0, now);
  for (auto _ : state) {
    const std::optional<StepPlan> plan = scheduler.schedule(now);
    benchmark::DoNotOptimize(encode(*plan));
    scheduler.update(answer(*plan), now);
  }
}
BENCHMARK(BM_BlockedQueueStep)->Arg(10)->Arg(10000)->Iterations(500);

}  // namespace
}  // namespace trireme::scheduler

BENCHMARK_MAIN();
