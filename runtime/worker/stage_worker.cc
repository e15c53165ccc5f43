#include "runtime/worker/stage_worker.h"

#include "base/check.h"

namespace trireme::worker {
namespace {

constexpr std::size_t kTrailerFloats = parallel::ActivationTransport::kTrailerBytes / sizeof(float);
constexpr base::Stream kStream{};  // of this rank's compute thread

}  // namespace

StageWorker::StageWorker(const StageIdentity& identity, const StageResources& resources, std::int64_t max_step_rows)
    : identity_(identity), resources_(resources), table_(resources.cache->num_groups()), max_step_rows_(max_step_rows) {
  const std::int64_t hidden_size = resources_.model->description().hidden_size;
  for (Buffer& buffer : hidden_)
    buffer = Buffer(static_cast<std::size_t>(max_step_rows * hidden_size) + kTrailerFloats);
  if (resources_.model->stage().last) head_.emplace(*resources_.model, *resources_.ops);
}

scheduler::StepPlan StageWorker::decode_and_verify(const std::vector<std::byte>& bytes) {
  auto plan = scheduler::decode_step_plan(bytes);
  TRIREME_CHECK(plan.ok()) << "plan for stage " << identity_.stage << ": " << plan.error().message;
  TRIREME_CHECK(plan->epoch == identity_.epoch && plan->replica == identity_.replica && plan->step == next_step_)
      << "stage " << identity_.stage << " is at epoch " << identity_.epoch << ", replica " << identity_.replica
      << ", step " << next_step_ << "; rank 0 sent epoch " << plan->epoch << ", replica " << plan->replica << ", step "
      << plan->step;
  TRIREME_CHECK(plan->shutdown || !plan->work.empty()) << "step " << plan->step << " carries no work";
  TRIREME_CHECK(plan->num_rows() <= max_step_rows_) << plan->num_rows() << " rows, at most " << max_step_rows_;
  ++next_step_;
  return std::move(plan).value();
}

// A step's hidden states as they are sent and received.
std::span<std::byte> StageWorker::transfer_buffer(scheduler::StepNumber step, std::int64_t num_rows) {
  Buffer& buffer = hidden_[step % kNumBuffers];
  const std::int64_t hidden_size = resources_.model->description().hidden_size;
  return std::as_writable_bytes(buffer.span().first(static_cast<std::size_t>(num_rows * hidden_size) + kTrailerFloats));
}

void StageWorker::start_receive(const scheduler::StepPlan& plan) {
  if (plan.shutdown) return;
  // The buffer was last sent from kNumBuffers steps ago.
  if (!resources_.model->stage().last && plan.step >= kNumBuffers) {
    timer_.lap(timing_.busy_us);
    resources_.transport->wait_send(plan.step - kNumBuffers, kStream);
    timer_.lap(timing_.send_us);
  }
  if (!resources_.model->stage().first) {
    resources_.transport->start_receive(plan.step, transfer_buffer(plan.step, plan.num_rows()));
  }
}

// Takes the next plan if it is here (or waits for it) and starts receiving its hidden states ahead of the computation.
void StageWorker::fetch_plan(bool wait) {
  std::optional<std::vector<std::byte>> bytes;
  if (wait) {
    timer_.lap(timing_.busy_us);
    bytes = resources_.plans->receive();
    timer_.lap(timing_.wait_us);
  } else {
    bytes = resources_.plans->try_receive();
  }
  if (!bytes) return;
  plans_.push_back(decode_and_verify(*bytes));
  start_receive(plans_.back());
}

void StageWorker::copy_blocks(const scheduler::StepPlan& plan) {
  for (const scheduler::BlockCopy& copy : plan.copies) {
    resources_.cache->copy_block(static_cast<std::int32_t>(copy.group), copy.source.value, copy.target.value);
  }
}

void StageWorker::obtain_hidden_states(const scheduler::StepPlan& plan, const BuiltStep& step, float* hidden) {
  if (resources_.model->stage().first) {
    resources_.model->embed(step.input, hidden, kStream);
    return;
  }
  timer_.lap(timing_.busy_us);
  computing_.store(false, std::memory_order_relaxed);
  resources_.transport->wait_arrival(plan.step);
  timer_.lap(timing_.wait_us);
  resources_.transport->wait_receive(plan.step, kStream);
  timer_.lap(timing_.receive_us);
  computing_.store(true, std::memory_order_relaxed);
}

void StageWorker::send_hidden_states(const scheduler::StepPlan& plan) {
  const std::span<std::byte> buffer = transfer_buffer(plan.step, plan.num_rows());
  timer_.lap(timing_.busy_us);
  resources_.transport->start_send(plan.step, buffer, kStream);
  timer_.lap(timing_.send_us);
  timing_.sent_bytes = buffer.size() - parallel::ActivationTransport::kTrailerBytes;
}

void StageWorker::answer(scheduler::StepResult result) {
  timer_.lap(timing_.busy_us);
  result.timing = timing_;
  timing_ = {};
  resources_.answer(result);
  timer_.lap(timing_.send_us);
}

void StageWorker::run_step(const scheduler::StepPlan& plan) {
  table_.apply(plan);
  copy_blocks(plan);
  const BuiltStep step = build_step(plan, table_, *resources_.cache);
  float* hidden = hidden_[plan.step % kNumBuffers].data();
  obtain_hidden_states(plan, step, hidden);
  resources_.model->forward(step.input, hidden, kStream);
  scheduler::StepResult result{identity_.epoch, identity_.replica, plan.step, {}, {}, {}};
  if (head_)
    head_->run(step, hidden, kStream, result);
  else
    send_hidden_states(plan);
  timing_.stage = identity_.stage;
  timing_.num_rows = static_cast<std::uint32_t>(plan.num_rows());
  answer(std::move(result));
}

void StageWorker::run() {
  timer_.restart();
  while (true) {
    if (plans_.empty()) fetch_plan(true);
    const scheduler::StepPlan plan = std::move(plans_.front());
    plans_.pop_front();
    if (plan.shutdown) return;
    if (plans_.empty()) fetch_plan(false);
    computing_.store(true, std::memory_order_relaxed);
    run_step(plan);
    computing_.store(false, std::memory_order_relaxed);
  }
}

}  // namespace trireme::worker
