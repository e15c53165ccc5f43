#include "runtime/model/expert_feed_forward.h"

namespace trireme::model {

std::int64_t ExpertFeedForward::bytes_per_row(const ModelDescription& model) {
  const ExpertSpec& experts = model.experts;
  const std::int64_t per_choice = model.hidden_size + 2 * std::int64_t{experts.intermediate_size} + 4;
  return (experts.num_experts + experts.num_chosen * per_choice) * static_cast<std::int64_t>(sizeof(float));
}

void ExpertFeedForward::reserve(std::int64_t num_rows) {
  if (num_rows <= capacity_rows_) return;
  const ExpertSpec& experts = model_.experts;
  const auto num_choices = static_cast<std::size_t>(num_rows * experts.num_chosen);
  logits_ = base::AlignedBuffer<float>(static_cast<std::size_t>(num_rows * experts.num_experts));
  row_weights_ = base::AlignedBuffer<float>(num_choices);
  grouped_ = base::AlignedBuffer<float>(num_choices * static_cast<std::size_t>(model_.hidden_size));
  gate_up_ = base::AlignedBuffer<float>(num_choices * 2 * static_cast<std::size_t>(experts.intermediate_size));
  for (auto* buffer : {&chosen_, &places_, &rows_}) *buffer = base::AlignedBuffer<std::int32_t>(num_choices);
  offsets_ = base::AlignedBuffer<std::int32_t>(static_cast<std::size_t>(experts.num_experts) + 1);
  capacity_rows_ = num_rows;
}

void ExpertFeedForward::route(const ExpertWeights& weights, const float* input, std::int64_t num_rows,
                              base::Stream stream) {
  const ExpertSpec& experts = model_.experts;
  kernels::LinearArgs router;
  router.input = input;
  router.input_stride = model_.hidden_size;
  router.weights = weights.router.matrix;
  router.bias = weights.router.bias;
  router.output = logits_.data();
  router.output_stride = experts.num_experts;
  router.num_rows = num_rows;
  ops_.linear(router, stream);
  ops_.route_experts({logits_.data(), chosen_.data(), row_weights_.data(), num_rows, experts.num_experts,
                      experts.num_chosen, experts.renormalise},
                     stream);
  ops_.group_by_expert({chosen_.data(), places_.data(), rows_.data(), offsets_.data(), num_rows, experts.num_experts,
                        experts.num_chosen},
                       stream);
}

void ExpertFeedForward::run(const ExpertWeights& weights, const float* input, float* hidden, std::int64_t num_rows,
                            base::Stream stream) {
  reserve(num_rows);
  route(weights, input, num_rows, stream);
  const ExpertSpec& experts = model_.experts;
  const std::int64_t num_choices = num_rows * experts.num_chosen, hidden_size = model_.hidden_size;
  const std::int64_t size = experts.intermediate_size, stride = 2 * size;
  float* gate = gate_up_.data();
  ops_.gather_rows({input, rows_.data(), grouped_.data(), num_choices, hidden_size}, stream);
  ops_.grouped_linear({grouped_.data(), hidden_size, weights.gate_up, offsets_.data(), gate, stride, num_choices},
                      stream);
  ops_.activation({gate, gate + size, stride, gate, stride, num_choices, size, model_.activation}, stream);
  ops_.grouped_linear({gate, stride, weights.down, offsets_.data(), grouped_.data(), hidden_size, num_choices}, stream);
  ops_.combine_experts(
      {grouped_.data(), places_.data(), row_weights_.data(), hidden, num_rows, experts.num_chosen, hidden_size},
      stream);
}

}  // namespace trireme::model
