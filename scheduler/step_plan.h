// StepPlan: rank 0's order for one step of one replica, the same for all its stages. StepResult: what each stage
// answers. Plain data with a byte encoding; every message carries epoch, step number and sizes, which receivers verify.
//
// Stages keep a table of sequences (tokens where sampling needs them, block tables) and apply the changes of each plan
// in this order: released, admitted, appended, copies, then compute `work`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "scheduler/ids.h"
#include "scheduler/request.h"

namespace trireme::scheduler {

struct SequenceAdmission {
  SequenceId sequence;
  std::uint32_t choice_index = 0;
  std::int32_t prompt_length = 0;  // output tokens start here (penalties, random positions)
  std::uint32_t adapter = 0;       // as in the request
  SamplingParams sampling;
  // All tokens known so far, where sampling.needs_history(); else empty. The work that follows may compute positions
  // that lie inside (they are not appended again); tokens at later positions extend it.
  std::vector<TokenId> history;
  bool operator==(const SequenceAdmission&) const = default;
};

// Blocks that extend the sequence's block table of one layer group. kNoBlock stands for blocks that lie before the
// window of every position still to be computed (after a prefix hit): never read or written.
struct BlockAppend {
  SequenceId sequence;
  std::uint32_t group = 0;
  std::vector<BlockId> blocks;
  bool operator==(const BlockAppend&) const = default;
};

// The first num_tokens slots of `source` are copied to `target` in every layer of the group, before any work.
// No target of a plan is a source of it.
struct BlockCopy {
  std::uint32_t group = 0;
  BlockId source, target;
  std::int32_t num_tokens = 0;
  bool operator==(const BlockCopy&) const = default;
};

// Tokens of one sequence to compute in this step: positions [first_position, first_position + tokens.size()).
struct SequenceWork {
  SequenceId sequence;
  std::int32_t first_position = 0;
  std::vector<TokenId> tokens;  // at least one
  bool sample = false;          // draw the token that follows the last position
  // Targets to score: the log-probability of score_targets[i] given the tokens up to the position at offset
  // score_begin + i of `tokens`. Empty: none.
  std::int32_t score_begin = 0;
  std::vector<TokenId> score_targets;
  bool operator==(const SequenceWork&) const = default;
};

struct StepPlan {
  std::uint32_t epoch = 0;  // of the job; changes when it is restarted
  std::uint32_t replica = 0;
  StepNumber step = 0;
  bool shutdown = false;  // the last plan: carries no work
  std::vector<SequenceId> released;
  std::vector<SequenceAdmission> admitted;
  std::vector<BlockAppend> appended;
  std::vector<BlockCopy> copies;
  std::vector<SequenceWork> work;

  std::int64_t num_rows() const;  // tokens over all of `work`
  bool operator==(const StepPlan&) const = default;
};

struct TokenLogprob {
  TokenId token = 0;
  float logprob = 0.0f;
  bool operator==(const TokenLogprob&) const = default;
};

struct SampledToken {
  SequenceId sequence;
  TokenId token = 0;
  float logprob = 0.0f;           // of `token` under the model, before temperature and filters; where asked for
  std::vector<TokenLogprob> top;  // num_logprobs of them, most likely first
  bool non_finite = false;        // the logits held NaN or +inf: there is no token
  bool operator==(const SampledToken&) const = default;
};

struct ScoredTokens {
  SequenceId sequence;
  std::int32_t first_position = 0;  // position of the first target token
  std::vector<float> logprobs;
  std::vector<std::vector<TokenLogprob>> top;  // per target, where num_logprobs > 0; else empty
  bool non_finite = false;
  bool operator==(const ScoredTokens&) const = default;
};

// Where one stage's time went in one step. The four times add up to the time since the stage's
// last answer.
struct StageTiming {
  std::uint32_t stage = 0;
  std::uint32_t num_rows = 0;
  std::uint64_t busy_us = 0;     // computing
  std::uint64_t wait_us = 0;     // for a plan, or for the previous stage to send: the bubble
  std::uint64_t receive_us = 0;  // from the arrival of the first hidden states to that of the last, checked
  std::uint64_t send_us = 0;     // of hidden states, and of the answer before this one
  std::uint64_t sent_bytes = 0;  // hidden states
  bool operator==(const StageTiming&) const = default;
};

// Every stage answers every step with its timing; the last stage's answer holds the tokens.
struct StepResult {
  std::uint32_t epoch = 0;
  std::uint32_t replica = 0;
  StepNumber step = 0;
  std::vector<SampledToken> sampled;  // in the order of plan.work; the last stage's alone
  std::vector<ScoredTokens> scored;   // likewise
  StageTiming timing;
  bool operator==(const StepResult&) const = default;
};

// Little-endian, length-prefixed. decode refuses truncated, trailing or oversized input without allocating more than
// a small multiple of its size.
std::vector<std::byte> encode(const StepPlan& plan);
std::vector<std::byte> encode(const StepResult& result);
base::Result<StepPlan> decode_step_plan(std::span<const std::byte> bytes);
base::Result<StepResult> decode_step_result(std::span<const std::byte> bytes);

}  // namespace trireme::scheduler
