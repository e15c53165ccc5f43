// ReplicaPipeline: rank 0's end of one replica: its scheduler, and the way of plans to its stages. Engine
// (communication) thread only.
#pragma once

#include <cstdint>
#include <span>

#include "parallel/message_loop.h"
#include "parallel/plan_broadcast.h"
#include "scheduler/scheduler.h"

namespace trireme::engine {

class ReplicaPipeline {
 public:
  // `ranks`: of the replica's stages, in order.
  ReplicaPipeline(parallel::MessageLoop& loop, std::span<const int> ranks, scheduler::SchedulerConfig config);

  scheduler::Scheduler& scheduler() { return scheduler_; }
  const scheduler::Scheduler& scheduler() const { return scheduler_; }

  std::size_t num_stages() const { return static_cast<std::size_t>(config_.num_stages); }

  void send(const scheduler::StepPlan& plan);
  // The last plan, after which the stages end. Precondition: no plan in flight.
  void send_shutdown();
  bool all_sent() const { return plans_.all_sent(); }

 private:
  scheduler::SchedulerConfig config_;
  scheduler::Scheduler scheduler_;
  parallel::PlanBroadcast plans_;
  scheduler::StepNumber next_step_ = 0;
};

}  // namespace trireme::engine
