// What the scheduler of one replica knows, shared by the parts that build plans and that take results.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "scheduler/block_manager.h"
#include "scheduler/scheduler.h"
#include "scheduler/sequence_table.h"

namespace trireme::scheduler {

// What a plan in flight asked of one sequence; its result must answer exactly this.
struct WorkInFlight {
  SequenceId sequence;
  std::int32_t first_position = 0;
  std::int32_t num_tokens = 0;
  bool sample = false;
  std::int32_t first_target = 0;  // position of the first token that is scored
  std::int32_t num_targets = 0;
};

struct PlanInFlight {
  StepNumber step = 0;
  std::vector<WorkInFlight> work;
};

struct SchedulerState {
  explicit SchedulerState(SchedulerConfig settings);

  // Takes the blocks of a running sequence; it computes its tokens again when it is admitted again. Results of plans in
  // flight still count, for they were computed before.
  void preempt(Sequence& sequence);
  // Forgets a sequence in any state; late results are dropped. Invalidates the reference.
  void end(Sequence& sequence);

  SchedulerConfig config;
  SequenceTable sequences;
  BlockManager blocks;
  std::deque<PlanInFlight> in_flight;
  std::vector<SequenceId> released;  // the stages still know them; goes out with the next plan
  std::vector<SequenceEvent> ended;  // past their deadline
  std::vector<SequenceStart> started;
  StepNumber next_step = 0;
  StepComposition last_composition;  // of the plan before next_step
  std::uint64_t next_sequence = 1;
  std::int64_t num_preemptions = 0;
  std::int64_t prefix_hit_tokens = 0;
  std::int64_t prefix_query_tokens = 0;

 private:
  void leave_stages(Sequence& sequence);
};

// After so many preemptions a sequence is shielded: it goes before all that arrived after it, whatever their
// priority.
inline constexpr std::int32_t kMaxPreemptions = 3;
// At most so many sequences may be admitted past one that does not fit; then all wait for it.
inline constexpr std::int32_t kMaxOvertaken = 16;
// At most so many waiting sequences are tried past one that does not fit, in one step.
inline constexpr std::int32_t kMaxLookahead = 8;
// A prompt that is spread over the stages is not cut into chunks of fewer tokens: small ones waste arithmetic.
inline constexpr std::int32_t kMinSpreadTokens = 64;
// One block of so many is kept free at admission, so that running sequences can grow a little before they preempt.
inline constexpr std::int32_t kWatermarkDivisor = 100;

}  // namespace trireme::scheduler
