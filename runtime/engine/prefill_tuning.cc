#include "runtime/engine/prefill_tuning.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace trireme::engine {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kNearlyTheBest = 0.97;
constexpr int kRuns = 3;  // the first warms up; the best counts, since other work only ever slows one down
constexpr std::int32_t kLayers = 6;

// The `num_tokens` in the middle of a prompt of `prompt_tokens`, which lies in the first blocks of the cache: so tokens
// attend to as many others whatever the chunk.
model::StepInput middle_of_prompt(std::int32_t num_tokens, std::int32_t prompt_tokens, const kv_cache::KvCache& cache,
                                  const std::vector<std::int32_t>& blocks) {
  const std::int32_t first = (prompt_tokens - num_tokens) / 2;
  model::StepInput input;
  input.positions.resize(static_cast<std::size_t>(num_tokens));
  std::iota(input.positions.begin(), input.positions.end(), first);
  input.groups.resize(static_cast<std::size_t>(cache.num_groups()));
  for (auto& group : input.groups) {
    group.slots.assign(input.positions.begin(), input.positions.end());
    group.sequences = {{0, num_tokens, first, blocks.data()}};
  }
  return input;
}

// The slowest rank's seconds by candidate, as far as all ranks came.
std::vector<double> slowest(std::span<const ChunkTimes> ranks) {
  std::vector<double> result;
  for (std::size_t i = 0; i < ChunkTimes::kMaxCandidates && !ranks.empty(); ++i) {
    double most = 0.0;
    for (const ChunkTimes& rank : ranks) {
      if (rank.seconds[i] <= 0.0) return result;
      most = std::max(most, rank.seconds[i]);
    }
    result.push_back(most);
  }
  return result;
}

}  // namespace

ChunkTimes measure_chunks(model::StageModel& stage, const kv_cache::KvCache& cache, std::int32_t max_tokens,
                          std::chrono::milliseconds time_limit) {
  ChunkTimes times;
  const auto hidden_size = static_cast<std::size_t>(stage.description().hidden_size);
  const std::int32_t num_layers = stage.stage().end_layer - stage.stage().begin_layer;
  const std::int32_t num_run = std::min(num_layers, kLayers);
  const double share = static_cast<double>(num_run) / num_layers;
  const std::int32_t num_blocks = cache.num_blocks(cache.group_of_layer(0));
  std::vector<std::int32_t> blocks(static_cast<std::size_t>(num_blocks));
  std::iota(blocks.begin(), blocks.end(), 0);
  const auto most =
      static_cast<std::int32_t>(std::min<std::int64_t>(max_tokens, std::int64_t{num_blocks} * cache.block_tokens()));
  const auto end = Clock::now() + time_limit;
  for (std::size_t i = 0; i < ChunkTimes::kMaxCandidates && candidate_chunk(i) <= most; ++i) {
    const double expected = i == 0 ? 0.0 : 2.0 * times.seconds[i - 1] * share * kRuns;
    if (Clock::now() + Seconds(expected) > end) break;
    const model::StepInput input = middle_of_prompt(candidate_chunk(i), most, cache, blocks);
    std::vector<float> hidden(input.positions.size() * hidden_size, 0.01f);
    for (int run = 0; run < kRuns; ++run) {
      const auto start = Clock::now();
      stage.forward_layers(0, num_run, input, hidden.data(), {});
      const double seconds = Seconds(Clock::now() - start).count() / share;
      times.seconds[i] = run <= 1 ? seconds : std::min(times.seconds[i], seconds);
    }
  }
  return times;
}

PrefillTuning choose_chunk(std::span<const ChunkTimes> ranks, std::int32_t max_tokens) {
  const std::vector<double> seconds = slowest(ranks);
  std::vector<double> rates;
  for (std::size_t i = 0; i < seconds.size(); ++i) rates.push_back(candidate_chunk(i) / seconds[i]);
  if (rates.empty()) return {max_tokens, std::to_string(max_tokens) + " tokens"};
  const double best = *std::max_element(rates.begin(), rates.end());
  std::size_t chosen = 0;
  while (rates[chosen] < kNearlyTheBest * best) ++chosen;
  const bool more_is_possible = candidate_chunk(rates.size()) <= max_tokens;
  PrefillTuning tuning;
  tuning.chunk = chosen + 1 == rates.size() && more_is_possible ? max_tokens : candidate_chunk(chosen);
  tuning.text = std::to_string(tuning.chunk) + " tokens (layers alone, tokens/s:";
  for (std::size_t i = 0; i < rates.size(); ++i) {
    tuning.text += (i == 0 ? " " : ", ") + std::to_string(candidate_chunk(i)) + " at a time " +
                   std::to_string(static_cast<std::int64_t>(rates[i]));
  }
  tuning.text += ")";
  return tuning;
}

}  // namespace trireme::engine
