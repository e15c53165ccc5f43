// Rates of a running pipeline, measured once each on rank 0: prefill of one prompt, and lock-step decoding.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/engine/rank_runtime.h"

namespace trireme::launch {

// Tokens per second from submitting a prompt of so many tokens to its first output token. Prompts of different seeds
// share nothing.
base::Result<double> prefill_rate(engine::RankRuntime& runtime, std::int32_t prompt_tokens, std::uint64_t seed);

struct DecodeShape {
  std::int32_t batch = 1;         // sequences, each with a prompt of its own
  std::int32_t context = 128;     // tokens of a prompt
  std::int32_t num_decoded = 64;  // tokens of each sequence that are timed
};

struct DecodeRun {
  double tokens_per_s = 0.0;
  std::int64_t num_preemptions = 0;         // more than 0: the pool was too small for lock-step decoding
  std::vector<engine::StageTotals> stages;  // of all replicas, in the timed part: stage by stage
  double seconds = 0.0;
};

// Tokens per second of all sequences together, timed from when all have their first token. Error: sequences that
// do not fit the context or the pool.
base::Result<DecodeRun> decode_rate(engine::RankRuntime& runtime, const DecodeShape& shape, std::uint64_t seed);

// Random token ids of the vocabulary.
std::vector<scheduler::TokenId> random_prompt(std::int32_t tokens, std::int32_t vocab_size, std::uint64_t seed);

}  // namespace trireme::launch
