// Sequence: the engine's state of one choice of a request. Owned by SequenceTable; only the scheduler changes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/block_manager.h"
#include "scheduler/ids.h"
#include "scheduler/request.h"
#include "scheduler/step_plan.h"

namespace trireme::scheduler {

enum class SequenceState : std::uint8_t {
  kParked,      // waits for a sibling to compute the prompt that they share
  kWaiting,     // holds no blocks; to be admitted
  kDraining,    // preempted while plans with its work are in flight; waits for their results
  kCatchingUp,  // running; known tokens are still to be scheduled: a prompt, or what preemption threw away
  kReady,       // running; the last sampled token can be scheduled
  kInFlight,    // running; all known tokens are scheduled
};

constexpr bool is_running(SequenceState state) {
  return state >= SequenceState::kCatchingUp;
}

struct Sequence {
  SequenceId id;
  std::shared_ptr<const Request> request;
  std::string prefix_scope;  // the request's
  std::uint32_t choice_index = 0;
  SequenceState state = SequenceState::kWaiting;
  TimePoint arrival{};
  TimePoint rank{};  // when it would have arrived to have its place in the order without its priority

  std::vector<TokenId> tokens;     // known: prompt, then output
  std::int32_t num_scheduled = 0;  // positions in plans, returned or in flight
  std::int32_t num_computed = 0;   // positions whose keys and values lie in the cache
  std::int32_t plans_in_flight = 0;
  StepNumber last_step = ~StepNumber{0};  // the last plan that holds work of it
  BlockTables tables;
  CacheCursor cache_cursor;

  std::int32_t num_preemptions = 0;
  bool shielded = false;             // preempted so often that it goes before all others
  std::int32_t times_overtaken = 0;  // while it was first but did not fit
  std::optional<std::uint64_t>
      refused_at;  // BlockManager::num_freed() when it did not fit: no use to try again before more

  std::int32_t next_score = 0;  // first prompt position whose row no plan has scored yet
  std::vector<float> prompt_logprobs;
  std::vector<std::vector<TokenLogprob>> prompt_top;

  std::int32_t num_known() const { return static_cast<std::int32_t>(tokens.size()); }
  std::int32_t prompt_length() const { return static_cast<std::int32_t>(request->prompt.size()); }
  std::int32_t num_output() const { return num_known() - prompt_length(); }
};

// Who goes first: shielded sequences, then earlier arrival, where priority counts as time of waiting: an order that
// starves no one. It is total, so that the first of those running can always make the others give way.
struct GoesBefore {
  bool operator()(const Sequence* a, const Sequence* b) const {
    if (a->shielded != b->shielded) return a->shielded;
    if (a->rank != b->rank) return a->rank < b->rank;
    return a->id < b->id;
  }
};

}  // namespace trireme::scheduler
