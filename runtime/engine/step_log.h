// StepLog: where the time of every step went. Takes each plan as it is sent and each stage's timing as it comes back;
// keeps sums, and passes whole steps on to an observer. Engine thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "scheduler/scheduler.h"
#include "scheduler/step_plan.h"

namespace trireme::engine {

// One step of one replica, complete.
struct StepRecord {
  std::uint32_t replica = 0;
  scheduler::StepNumber step = 0;
  scheduler::StepComposition composition;
  scheduler::TimePoint scheduled, completed;    // completed: the last stage's timing is back
  std::vector<scheduler::StageTiming> timings;  // [num_stages]
};

struct StageTotals {
  std::uint64_t num_rows = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t busy_us = 0, wait_us = 0, receive_us = 0, send_us = 0;  // as in StageTiming
  StageTotals& operator+=(const StageTotals& other);
  StageTotals& operator-=(const StageTotals& other);  // of an earlier time
  bool operator==(const StageTotals&) const = default;
};

struct ReplicaTotals {
  std::uint64_t num_steps = 0;
  std::uint64_t prefill_tokens = 0, decode_tokens = 0;
  std::vector<StageTotals> stages;  // [num_stages]
};

using StepObserver = std::function<void(const StepRecord&)>;

class StepLog {
 public:
  StepLog(std::size_t num_replicas, std::size_t num_stages);

  // Steps of one replica, in order of their numbers; observed in this order too.
  void set_observer(StepObserver observer) { observer_ = std::move(observer); }
  void sent(const scheduler::StepPlan& plan, const scheduler::StepComposition& composition, scheduler::TimePoint now);
  // A stage's answer: to the oldest step that it has not answered. CHECKs that it is that step's.
  void answered(const scheduler::StepResult& result, scheduler::TimePoint now);

  bool complete() const;  // every stage has answered every step
  const std::vector<ReplicaTotals>& totals() const { return totals_; }

 private:
  struct OpenStep {
    StepRecord record;
    std::size_t num_missing = 0;
  };
  struct Replica {
    std::deque<OpenStep> open;
    std::vector<scheduler::StepNumber> next_step;  // per stage: that it answers next
  };
  void close(Replica& replica, scheduler::TimePoint now);

  std::vector<Replica> replicas_;
  std::vector<ReplicaTotals> totals_;
  StepObserver observer_;
};

}  // namespace trireme::engine
