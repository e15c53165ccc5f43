// StageWorker: runs the plans of rank 0 on one stage, one after the other, on the rank's compute thread:
// apply the plan's changes, receive or embed, run the layers, send on or sample, and answer.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "base/aligned_buffer.h"
#include "kernels/ops.h"
#include "parallel/activation_transport.h"
#include "parallel/control_channel.h"
#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/stage_model.h"
#include "runtime/worker/lap_timer.h"
#include "runtime/worker/output_head.h"
#include "runtime/worker/sequence_table.h"
#include "scheduler/step_plan.h"

namespace trireme::worker {

struct StageIdentity {
  std::uint32_t epoch = 0;
  std::uint32_t replica = 0;
  std::uint32_t stage = 0;
};

// What a worker computes with and talks to. All outlive it.
struct StageResources {
  model::StageModel* model = nullptr;
  kv_cache::KvCache* cache = nullptr;
  kernels::Ops* ops = nullptr;
  parallel::ControlReceiver* plans = nullptr;
  parallel::ActivationTransport* transport = nullptr;
  std::function<void(const scheduler::StepResult&)> answer;  // to rank 0
};

class StageWorker {
 public:
  StageWorker(const StageIdentity& identity, const StageResources& resources, std::int64_t max_step_rows);

  // Runs plans until one says shutdown. Throws what communication or a check throws: then the job must end.
  void run();

  // True while this stage computes (not while it waits for others). Any thread.
  bool computing() const { return computing_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kNumBuffers = 3;  // being received, computed and sent
  using Buffer = base::AlignedBuffer<float>;

  void fetch_plan(bool wait);
  scheduler::StepPlan decode_and_verify(const std::vector<std::byte>& bytes);
  void start_receive(const scheduler::StepPlan& plan);
  void run_step(const scheduler::StepPlan& plan);
  void obtain_hidden_states(const scheduler::StepPlan& plan, const BuiltStep& step, float* hidden);
  void send_hidden_states(const scheduler::StepPlan& plan);
  void answer(scheduler::StepResult result);
  void copy_blocks(const scheduler::StepPlan& plan);
  std::span<std::byte> transfer_buffer(scheduler::StepNumber step, std::int64_t num_rows);

  StageIdentity identity_;
  StageResources resources_;
  SequenceTable table_;
  std::optional<OutputHead> head_;
  std::array<Buffer, kNumBuffers> hidden_;  // [max_step_rows, hidden_size], and the transport's trailer
  std::deque<scheduler::StepPlan> plans_;   // received, not yet run
  scheduler::StepNumber next_step_ = 0;     // of the next plan to arrive
  std::int64_t max_step_rows_;
  LapTimer timer_;
  scheduler::StageTiming timing_;  // since the last answer
  std::atomic<bool> computing_{false};
};

}  // namespace trireme::worker
