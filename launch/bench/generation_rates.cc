#include "launch/bench/generation_rates.h"

#include <chrono>
#include <random>

namespace trireme::launch {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void pump_until_idle(engine::RankRuntime& runtime) {
  while (!runtime.engine().idle()) runtime.pump();
}

// So many output tokens that no sequence ends while the others are still at their prompts: a step computes at least
// one chunk of a prompt, and the last sequence may be that many steps behind the first.
std::int32_t max_tokens(const engine::RankRuntime& runtime, const DecodeShape& shape, std::int32_t prefill_chunk) {
  const std::int32_t stages = runtime.plan().layout.num_stages();
  const std::int32_t chunks_per_prompt = shape.context / std::max(1, prefill_chunk) + 1;
  return shape.num_decoded + 2 * (shape.batch + 2 * stages) * chunks_per_prompt;
}

std::int64_t preemptions(engine::RankRuntime& runtime) {
  std::int64_t sum = 0;
  for (const auto& stats : runtime.engine().stats()) sum += stats.num_preemptions;
  return sum;
}

std::vector<engine::StageTotals> sum_over_replicas(const std::vector<engine::ReplicaTotals>& replicas) {
  std::vector<engine::StageTotals> sum(replicas.front().stages.size());
  for (const engine::ReplicaTotals& replica : replicas) {
    for (std::size_t stage = 0; stage < sum.size(); ++stage) sum[stage] += replica.stages[stage];
  }
  return sum;
}

// The sequences of one measurement: tokens are counted as they come.
class LockStep {
 public:
  LockStep(engine::RankRuntime& runtime, const DecodeShape& shape) : runtime_(runtime), shape_(shape) {}

  base::Status submit(std::int32_t output_tokens, std::uint64_t seed) {
    started_.assign(static_cast<std::size_t>(shape_.batch), false);
    for (std::int32_t i = 0; i < shape_.batch; ++i) {
      scheduler::Request request;
      const std::uint64_t own_seed = seed * 4096 + static_cast<std::uint64_t>(i);
      request.prompt = random_prompt(shape_.context, runtime_.description().vocab_size, own_seed);
      request.max_tokens = output_tokens;
      const auto count = [this, index = static_cast<std::size_t>(i)](const engine::GenerationEvent&) { take(index); };
      const auto id = runtime_.engine().submit(std::move(request), count, Clock::now());
      if (!id) {
        cancel();
        return id.error();
      }
      requests_.push_back(*id);
    }
    return base::ok_status();
  }

  void cancel() {
    for (const auto id : requests_) runtime_.engine().cancel(id);
    pump_until_idle(runtime_);
  }

  bool all_started() const { return num_started_ == started_.size(); }
  std::int64_t num_tokens() const { return num_tokens_; }

 private:
  void take(std::size_t sequence) {
    ++num_tokens_;
    if (started_[sequence]) return;
    started_[sequence] = true;
    ++num_started_;
  }

  engine::RankRuntime& runtime_;
  DecodeShape shape_;
  std::vector<scheduler::RequestId> requests_;
  std::vector<bool> started_;
  std::size_t num_started_ = 0;
  std::int64_t num_tokens_ = 0;
};

}  // namespace

std::vector<scheduler::TokenId> random_prompt(std::int32_t tokens, std::int32_t vocab_size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<scheduler::TokenId> prompt(static_cast<std::size_t>(tokens));
  for (auto& token : prompt) token = static_cast<scheduler::TokenId>(random() % static_cast<std::uint64_t>(vocab_size));
  return prompt;
}

base::Result<double> prefill_rate(engine::RankRuntime& runtime, std::int32_t prompt_tokens, std::uint64_t seed) {
  scheduler::Request request;
  request.prompt = random_prompt(prompt_tokens, runtime.description().vocab_size, seed);
  request.max_tokens = 1;
  bool done = false;
  const auto start = Clock::now();
  const auto id = runtime.engine().submit(
      std::move(request), [&](const engine::GenerationEvent&) { done = true; }, start);
  if (!id) return id.error();
  while (!done) runtime.pump();
  const double seconds = seconds_since(start);
  pump_until_idle(runtime);
  return prompt_tokens / seconds;
}

base::Result<DecodeRun> decode_rate(engine::RankRuntime& runtime, const DecodeShape& shape, std::uint64_t seed) {
  LockStep sequences(runtime, shape);
  const std::int64_t preemptions_before = preemptions(runtime);
  const std::int32_t output_tokens = max_tokens(runtime, shape, runtime.prefill_chunk());
  if (const auto status = sequences.submit(output_tokens, seed); !status) return status.error();
  while (!sequences.all_started()) runtime.pump();

  DecodeRun run;
  const std::int64_t first = sequences.num_tokens();
  const auto totals_before = sum_over_replicas(runtime.engine().totals());
  const auto start = Clock::now();
  const std::int64_t wanted = std::int64_t{shape.batch} * shape.num_decoded;
  while (sequences.num_tokens() - first < wanted) runtime.pump();
  run.seconds = seconds_since(start);
  run.tokens_per_s = static_cast<double>(sequences.num_tokens() - first) / run.seconds;
  run.stages = sum_over_replicas(runtime.engine().totals());
  for (std::size_t stage = 0; stage < run.stages.size(); ++stage) run.stages[stage] -= totals_before[stage];
  sequences.cancel();
  run.num_preemptions = preemptions(runtime) - preemptions_before;
  return run;
}

}  // namespace trireme::launch
