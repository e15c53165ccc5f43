// PrefillTuning: how many prompt tokens a step should compute on these machines. Long chunks reuse weights better;
// short ones keep the time between the tokens of others short, spread a prompt over the stages and stay within the
// caches. The shortest chunk that loses next to nothing is best, and where that lies is measured at the start.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/stage_model.h"

namespace trireme::engine {

// Seconds that one rank takes for a step of candidate_chunk(i) tokens through all of its layers; 0: not measured.
struct ChunkTimes {
  static constexpr std::size_t kMaxCandidates = 7;
  std::array<double, kMaxCandidates> seconds{};
};

// The i-th length that is tried: 128, 256, … 8192. Shorter ones are lost in the cost of a step.
constexpr std::int32_t candidate_chunk(std::size_t i) {
  return 128 << i;
}

// Runs the stage's first layers, so many that their weights come from memory as in a real step, on chunks of up to
// `max_tokens` tokens, in ascending order, as long as `time_limit` allows; they stand for the others. Writes to the
// first blocks of `cache`, so it comes before any sequence.
ChunkTimes measure_chunks(model::StageModel& stage, const kv_cache::KvCache& cache, std::int32_t max_tokens,
                          std::chrono::milliseconds time_limit);

struct PrefillTuning {
  std::int32_t chunk = 0;  // tokens
  std::string text;        // what was measured, for the user
};

// From the times of all ranks, the slowest of which sets the pace: the shortest chunk whose rate is within 3 % of the
// best. `max_tokens` where nothing was measured, or where the rate still rose when the time was over.
PrefillTuning choose_chunk(std::span<const ChunkTimes> ranks, std::int32_t max_tokens);

}  // namespace trireme::engine
