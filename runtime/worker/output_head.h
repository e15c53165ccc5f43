// OutputHead: the last stage's end of a step: logits for the rows that are sampled or scored, and what comes of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/stream.h"
#include "kernels/ops.h"
#include "runtime/model/stage_model.h"
#include "runtime/sampling/sampler.h"
#include "runtime/worker/step_input_builder.h"
#include "scheduler/step_plan.h"

namespace trireme::worker {

class OutputHead {
 public:
  // Both outlive this object.
  OutputHead(model::StageModel& model, kernels::Ops& ops);

  // Fills result.sampled and result.scored. hidden: [num_rows, hidden_size], after the last layer.
  void run(const BuiltStep& step, const float* hidden, base::Stream stream, scheduler::StepResult& result);

  // Bytes of the logits that are held at once.
  static std::int64_t logits_bytes(std::int64_t vocab_size);

 private:
  // A row of logits and what is wanted of it. `target` < 0: sample; else score that token.
  struct Wanted {
    const WorkRows* rows = nullptr;
    std::int32_t row = 0;
    std::int32_t target = -1;
  };
  std::vector<Wanted> collect(const BuiltStep& step) const;
  void sample_row(const Wanted& wanted, const float* logits, float log_sum_exp, scheduler::StepResult& result);
  void score_row(const Wanted& wanted, const float* logits, float log_sum_exp, scheduler::StepResult& result);

  model::StageModel& model_;
  kernels::Ops& ops_;
  sampling::Sampler sampler_;
  base::AlignedBuffer<float> logits_;
  std::vector<float> log_sums_;
};

}  // namespace trireme::worker
