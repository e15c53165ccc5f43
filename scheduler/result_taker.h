// ResultTaker: brings the result of one plan into the sequences: checks that it answers the plan, appends sampled
// tokens, finishes sequences, and tells what happened.
#pragma once

#include <cstddef>
#include <vector>

#include "scheduler/scheduler_state.h"

namespace trireme::scheduler {

class ResultTaker {
 public:
  ResultTaker(SchedulerState& state, const StepResult& result) : state_(state), result_(result) {}

  // Takes the oldest plan off those in flight.
  std::vector<SequenceEvent> take();

 private:
  const SampledToken* next_sampled(const WorkInFlight& work);
  const ScoredTokens* next_scored(const WorkInFlight& work);
  void apply(const WorkInFlight& work, const SampledToken* sampled, const ScoredTokens* scored);
  void keep_scores(Sequence& sequence, const ScoredTokens& scored) const;
  void finish(Sequence& sequence, SequenceEvent event, FinishReason reason);
  FinishReason reason_to_finish(const Sequence& sequence) const;

  SchedulerState& state_;
  const StepResult& result_;
  std::size_t num_sampled_ = 0;
  std::size_t num_scored_ = 0;
  std::vector<SequenceEvent> events_;
};

}  // namespace trireme::scheduler
