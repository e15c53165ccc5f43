// ModelCosts: what computing a token costs at least, in arithmetic and in memory read.
#pragma once

#include <cstdint>

#include "launch/bench/machine_limits.h"
#include "runtime/model/model_description.h"
#include "runtime/model/weight_plan.h"

namespace trireme::launch {

struct ModelCosts {
  // Multiply-adds of the Linears alone, two operations each.
  double layer_operations = 0.0;  // per token
  double head_operations = 0.0;   // per token whose logits are wanted
  double weight_bytes = 0.0;      // packed layers and head: read once per step, however many tokens it has
  bool integer_arithmetic = false;

  double prefill_operations(std::int64_t tokens) const {
    return layer_operations * static_cast<double>(tokens) + head_operations;
  }
  double decode_operations(std::int64_t sequences) const {
    return (layer_operations + head_operations) * static_cast<double>(sequences);
  }
};

ModelCosts model_costs(const model::ModelDescription& model, const model::WeightPlan& weights);

// The most tokens per second that the limits allow, and which of them it is that binds.
struct Bound {
  double tokens_per_s = 0.0;  // 0: a limit is not known
  const char* by = "";        // "memory", "arithmetic"
};
Bound prefill_bound(const ModelCosts& costs, const MachineLimits& limits, std::int64_t tokens);
// Of lock-step decoding by one pipeline. The KV cache is not counted.
Bound decode_bound(const ModelCosts& costs, const MachineLimits& limits, std::int64_t sequences);

}  // namespace trireme::launch
