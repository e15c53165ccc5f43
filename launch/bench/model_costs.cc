#include "launch/bench/model_costs.h"

#include "kernels/weight_format.h"

namespace trireme::launch {
namespace {

// Where formats mix, what the layers' first matrices are multiplied as.
bool is_integer(const model::WeightPlan& weights) {
  return !weights.layers.empty() && kernels::is_quantised(weights.layers.front().front().format);
}

Bound bound_of(double bytes, double operations, std::int64_t tokens, const ModelCosts& costs,
               const MachineLimits& limits) {
  const double arithmetic = (costs.integer_arithmetic ? limits.gemm_int8_gops : limits.gemm_f32_gflops) * 1e9;
  const double memory = limits.read_gb_per_s * 1e9;
  if (arithmetic <= 0.0 || memory <= 0.0) return {};
  const double arithmetic_s = operations / arithmetic, memory_s = bytes / memory;
  const auto count = static_cast<double>(tokens);
  return arithmetic_s > memory_s ? Bound{count / arithmetic_s, "arithmetic"} : Bound{count / memory_s, "memory"};
}

}  // namespace

ModelCosts model_costs(const model::ModelDescription& model, const model::WeightPlan& weights) {
  ModelCosts costs;
  for (std::int32_t layer = 0; layer < model.num_layers(); ++layer) {
    costs.layer_operations += 2.0 * static_cast<double>(model.layer_linear_weights(layer));
  }
  costs.head_operations = 2.0 * static_cast<double>(model.head_weights());
  // Of the embedding a step reads but one row per token.
  const model::StageSpec all_but_embedding{0, model.num_layers(), false, true};
  costs.weight_bytes = static_cast<double>(model::matrix_bytes(weights, model, all_but_embedding));
  costs.integer_arithmetic = is_integer(weights);
  return costs;
}

Bound prefill_bound(const ModelCosts& costs, const MachineLimits& limits, std::int64_t tokens) {
  return bound_of(costs.weight_bytes, costs.prefill_operations(tokens), tokens, costs, limits);
}

Bound decode_bound(const ModelCosts& costs, const MachineLimits& limits, std::int64_t sequences) {
  return bound_of(costs.weight_bytes, costs.decode_operations(sequences), sequences, costs, limits);
}

}  // namespace trireme::launch
