// Which tokens may be drawn: top_k, then top_p (Holtzman et al. 2020), then min_p (Nguyen et al. 2024).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduler/request.h"

namespace trireme::sampling {

bool filters_tokens(const scheduler::SamplingParams& params, std::size_t vocab_size);

// `order` becomes the ids that pass, at least one; the same for the same input. `weights` are softmax_weights of
// `logits`, which are finite or -inf and not all -inf.
//   top_k: the k largest logits, the lower id first among equals
//   top_p: of those, the shortest run of the most likely ones with a share of at least top_p
//   min_p: of those, the ones with a weight of at least min_p times the largest
void filter_tokens(const scheduler::SamplingParams& params, std::span<const float> logits,
                   std::span<const float> weights, std::vector<std::int32_t>& order);

}  // namespace trireme::sampling
