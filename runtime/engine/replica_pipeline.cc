#include "runtime/engine/replica_pipeline.h"

namespace trireme::engine {

ReplicaPipeline::ReplicaPipeline(parallel::MessageLoop& loop, std::span<const int> ranks,
                                 scheduler::SchedulerConfig config)
    : config_(config), scheduler_(std::move(config)), plans_(loop, ranks, config_.epoch) {}

void ReplicaPipeline::send(const scheduler::StepPlan& plan) {
  next_step_ = plan.step + 1;
  plans_.send(scheduler::encode(plan));
}

void ReplicaPipeline::send_shutdown() {
  scheduler::StepPlan plan;
  plan.epoch = config_.epoch;
  plan.replica = config_.replica;
  plan.step = next_step_;
  plan.shutdown = true;
  send(plan);
}

}  // namespace trireme::engine
