// StepBuilder: fills one plan. First the sequences that decode, then known tokens that are not computed yet, in chunks
// that keep the step in its budget, then new sequences. Preempts where blocks run out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "scheduler/scheduler_state.h"
#include "scheduler/step_budget.h"

namespace trireme::scheduler {

class StepBuilder {
 public:
  StepBuilder(SchedulerState& state, TimePoint now);

  // The next plan, entered among those in flight; nothing if no sequence can compute.
  std::optional<StepPlan> build();

 private:
  void add_ready();
  void add_catching_up();
  void admit_waiting();

  void limit_chunks();
  std::int32_t chunk_length(const Sequence& sequence, std::int32_t begin) const;
  void add_work(Sequence& sequence, std::int32_t num_tokens);
  void add_scores(Sequence& sequence, SequenceWork& work) const;
  bool make_room(const Sequence& sequence);
  bool may_get_blocks(const Sequence& sequence) const;
  Sequence* victim_for(const Sequence& sequence) const;

  AdmissionRound::Who who_may_enter() const;
  bool try_admit(Sequence& sequence);
  bool admit_with(Sequence& sequence, PrefixReuse reuse);
  bool fits(const Sequence& sequence) const;
  void enter_stages(Sequence& sequence, PrefixReuse reuse);
  void submit();

  SchedulerState& state_;
  const TimePoint now_;
  StepBudget budget_;
  std::int32_t chunk_tokens_left_ = 0;  // for known tokens that are not computed yet
  bool preempted_ = false;
  std::vector<std::int32_t> claimed_;   // per group: pending blocks that sequences of this step wait for
  std::vector<std::int32_t> reserved_;  // per group: blocks that admitted prompts still need
  std::vector<PrefixReuse> copying_;
  StepPlan plan_;
  StepComposition composition_;
  PlanInFlight record_;
};

}  // namespace trireme::scheduler
