// Scheduler: decides, on rank 0's engine thread, which sequences of one replica compute how many tokens in the next
// step; the only mutator of Sequence. There is no prefill or decode phase: only computed tokens catching up with known
// ones (chunked prefill: Agrawal et al. 2024; continuous batching: Yu et al. 2022).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "scheduler/batching_policy.h"
#include "scheduler/ids.h"
#include "scheduler/kv_group.h"
#include "scheduler/request.h"
#include "scheduler/step_plan.h"

namespace trireme::scheduler {

struct SchedulerConfig {
  std::uint32_t epoch = 0;
  std::uint32_t replica = 0;
  std::int32_t max_plans_in_flight = 1;  // stages .. 2 * stages
  std::int32_t num_stages = 1;
  std::int32_t max_step_tokens = 512;  // budget of a step, in tokens at the start of a context
  std::int32_t prefill_chunk = std::numeric_limits<std::int32_t>::max();  // of that, what prompts may use
  double context_cost = 0.0;        // a token at position p costs 1 + context_cost * p of the budget
  std::int32_t max_batch = 256;     // sequences that may be running
  std::int32_t max_context = 2048;  // prompt and output tokens of one sequence
  std::int32_t block_tokens = 80;
  std::vector<KvGroup> kv_groups;  // at least one
  bool prefix_cache = true;
  BatchingPolicy batching;
  std::uint32_t num_adapters = 0;  // a request may name one of them, from 1 on
};

// One new output token, and/or the end of a sequence. Order within a sequence is the order of its tokens.
struct SequenceEvent {
  SequenceId sequence;
  RequestId request;
  std::uint32_t choice_index = 0;
  std::optional<SampledToken> token;   // a stop token is reported too, with finish_reason kStop
  std::vector<float> prompt_logprobs;  // with the event that completes the prompt's scores: [prompt - 1]
  std::vector<std::vector<TokenLogprob>> prompt_top;
  FinishReason finish_reason = FinishReason::kNone;
};

// A sequence has left the queue.
struct SequenceStart {
  SequenceId sequence;
  RequestId request;
  std::int32_t cached_tokens = 0;  // of its prompt, from the prefix cache
};

// What a plan consists of.
struct StepComposition {
  std::int32_t prefill_tokens = 0;  // of prompts, and of what preemption threw away
  std::int32_t decode_tokens = 0;
  std::int32_t num_sequences = 0;
  bool operator==(const StepComposition&) const = default;
};

struct SchedulerStats {
  std::int32_t num_waiting = 0;
  std::int32_t num_running = 0;
  std::int32_t plans_in_flight = 0;
  std::int64_t num_preemptions = 0;
  std::int64_t prefix_hit_tokens = 0;
  std::int64_t prefix_query_tokens = 0;
  std::vector<std::int32_t> free_blocks;  // per group; evictable cached blocks count as free
  std::vector<std::int32_t> total_blocks;
};

class Scheduler {
 public:
  explicit Scheduler(SchedulerConfig config);
  ~Scheduler();

  // Changes SchedulerConfig::batching. Precondition: idle().
  void set_batching(BatchingPolicy policy);

  // Whether a request can ever fit (context and pool); the error names the limit. Any thread.
  base::Status check(const Request& request) const;

  // Queues one choice of a request. Refuses what can never fit (context or pool), naming the limit.
  base::Result<SequenceId> add(std::shared_ptr<const Request> request, std::uint32_t choice_index, TimePoint now);

  // The next plan, or nothing: no plan slot free, or no sequence that can compute. Deadlines are checked here.
  std::optional<StepPlan> schedule(TimePoint now);
  // Of the plan that schedule() made last.
  const StepComposition& last_composition() const;

  // Takes the result of the oldest plan in flight; results arrive in the order of plans.
  std::vector<SequenceEvent> update(const StepResult& result, TimePoint now);

  // Ends sequences that schedule() found past their deadline; the caller drains these after each schedule().
  std::vector<SequenceEvent> take_ended();

  // The sequences that schedule() has admitted for the first time, to be drained likewise.
  std::vector<SequenceStart> take_started();

  // Ends a sequence early (stop string, cancel). Its blocks are freed at once, reused only when no plan in flight uses
  // them. Nothing more is reported of it. Unknown ids are ignored.
  void finish(SequenceId sequence);

  // Forgets the blocks that are cached for requests of this cache_scope, whatever their adapter.
  void forget_scope(const std::string& cache_scope);

  bool idle() const;  // no sequence known and no plan in flight
  SchedulerStats stats() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::scheduler
