#include "runtime/engine/step_log.h"

#include <algorithm>

#include "base/check.h"

namespace trireme::engine {

StageTotals& StageTotals::operator+=(const StageTotals& other) {
  num_rows += other.num_rows;
  sent_bytes += other.sent_bytes;
  busy_us += other.busy_us;
  wait_us += other.wait_us;
  receive_us += other.receive_us;
  send_us += other.send_us;
  return *this;
}

StageTotals& StageTotals::operator-=(const StageTotals& other) {
  num_rows -= other.num_rows;
  sent_bytes -= other.sent_bytes;
  busy_us -= other.busy_us;
  wait_us -= other.wait_us;
  receive_us -= other.receive_us;
  send_us -= other.send_us;
  return *this;
}

StepLog::StepLog(std::size_t num_replicas, std::size_t num_stages) : replicas_(num_replicas), totals_(num_replicas) {
  TRIREME_CHECK(num_replicas > 0 && num_stages > 0);
  for (Replica& replica : replicas_) replica.next_step.resize(num_stages);
  for (ReplicaTotals& totals : totals_) totals.stages.resize(num_stages);
}

void StepLog::sent(const scheduler::StepPlan& plan, const scheduler::StepComposition& composition,
                   scheduler::TimePoint now) {
  Replica& replica = replicas_.at(plan.replica);
  const std::size_t num_stages = replica.next_step.size();
  OpenStep& step = replica.open.emplace_back();
  step.record = {plan.replica, plan.step, composition, now, {}, {}};
  step.record.timings.resize(num_stages);
  step.num_missing = num_stages;
}

void StepLog::answered(const scheduler::StepResult& result, scheduler::TimePoint now) {
  TRIREME_CHECK(result.replica < replicas_.size()) << "an answer of replica " << result.replica;
  Replica& replica = replicas_[result.replica];
  const std::uint32_t stage = result.timing.stage;
  TRIREME_CHECK(stage < replica.next_step.size()) << "an answer of stage " << stage;
  TRIREME_CHECK(result.step == replica.next_step[stage])
      << "replica " << result.replica << ", stage " << stage << " answered step " << result.step << " instead of "
      << replica.next_step[stage];
  TRIREME_CHECK(!replica.open.empty() && result.step - replica.open.front().record.step < replica.open.size())
      << "an answer to step " << result.step << ", which was not sent";
  ++replica.next_step[stage];
  OpenStep& step = replica.open[result.step - replica.open.front().record.step];
  const scheduler::StageTiming& timing = result.timing;
  step.record.timings[stage] = timing;
  totals_[result.replica].stages[stage] +=
      {timing.num_rows, timing.sent_bytes, timing.busy_us, timing.wait_us, timing.receive_us, timing.send_us};
  --step.num_missing;
  // No stage answers out of order, so steps complete in order.
  if (replica.open.front().num_missing == 0) close(replica, now);
}

void StepLog::close(Replica& replica, scheduler::TimePoint now) {
  StepRecord& record = replica.open.front().record;
  record.completed = now;
  ReplicaTotals& totals = totals_[record.replica];
  ++totals.num_steps;
  totals.prefill_tokens += static_cast<std::uint64_t>(record.composition.prefill_tokens);
  totals.decode_tokens += static_cast<std::uint64_t>(record.composition.decode_tokens);
  if (observer_) observer_(record);
  replica.open.pop_front();
}

bool StepLog::complete() const {
  return std::all_of(replicas_.begin(), replicas_.end(), [](const Replica& replica) { return replica.open.empty(); });
}

}  // namespace trireme::engine
