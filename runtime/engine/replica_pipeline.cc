#include "runtime/engine/replica_pipeline.h"

#include "base/check.h"

namespace trireme::engine {

ReplicaPipeline::ReplicaPipeline(parallel::MessageLoop& loop, std::span<const int> ranks,
                                 scheduler::SchedulerConfig config)
    : config_(config),
      scheduler_(std::move(config)),
      plans_(loop, ranks, config_.epoch),
      results_(loop, ranks.back(), parallel::Tag::kResult, config_.epoch) {}

std::optional<scheduler::StepResult> ReplicaPipeline::receive_result() {
  const auto bytes = results_.try_receive();
  if (!bytes) return std::nullopt;
  auto result = scheduler::decode_step_result(*bytes);
  TRIREME_CHECK(result.ok()) << "result of replica " << config_.replica << ": " << result.error().message;
  return std::move(result).value();
}

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
