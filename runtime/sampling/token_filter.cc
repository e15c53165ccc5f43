#include "runtime/sampling/token_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>

#include "runtime/sampling/select_largest.h"
#include "runtime/sampling/softmax_weights.h"

namespace trireme::sampling {
namespace {

// Weights lie in [0, 1]; as bits of a float they are in order, and the upper ones make a logarithmic scale of 8 buckets
// per octave.
constexpr int kBucketShift = 20;
constexpr std::size_t kNumBuckets = (0x3F800000U >> kBucketShift) + 1;

std::size_t bucket_of(float weight) {
  return std::bit_cast<std::uint32_t>(weight) >> kBucketShift;
}

bool has_top_k(const scheduler::SamplingParams& params, std::size_t vocab_size) {
  return params.top_k > 0 && static_cast<std::size_t>(params.top_k) < vocab_size;
}

bool has_top_p(const scheduler::SamplingParams& params) {
  return params.top_p < 1.0f;
}

// Cuts `order`, sorted by falling weight, behind the first token where the sum of weights reaches `share`.
void cut_at_share(std::span<const float> weights, double share, std::vector<std::int32_t>& order) {
  double cumulative = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    cumulative += static_cast<double>(weights[static_cast<std::size_t>(order[i])]);
    if (cumulative < share) continue;
    order.resize(i + 1);
    return;
  }
}

// The nucleus of the whole vocabulary without sorting it: sums by bucket of weight tell in which bucket it ends, and
// only that bucket is sorted.
void select_nucleus(std::span<const float> weights, float top_p, std::vector<std::int32_t>& order) {
  std::array<double, kNumBuckets> bucket_sums{};
  for (const float weight : weights) bucket_sums[bucket_of(weight)] += static_cast<double>(weight);
  double remaining = static_cast<double>(top_p) * std::accumulate(bucket_sums.rbegin(), bucket_sums.rend(), 0.0);
  std::size_t last = kNumBuckets - 1;
  for (; last > 0 && bucket_sums[last] < remaining; --last) remaining -= bucket_sums[last];

  order.clear();
  std::vector<std::int32_t> at_the_edge;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t bucket = bucket_of(weights[i]);
    if (bucket > last) order.push_back(static_cast<std::int32_t>(i));
    if (bucket == last) at_the_edge.push_back(static_cast<std::int32_t>(i));
  }
  std::sort(at_the_edge.begin(), at_the_edge.end(), [weights](std::int32_t a, std::int32_t b) {
    const float left = weights[static_cast<std::size_t>(a)];
    const float right = weights[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  });
  cut_at_share(weights, remaining, at_the_edge);
  order.insert(order.end(), at_the_edge.begin(), at_the_edge.end());
}

void cut_to_nucleus(std::span<const float> weights, float top_p, std::vector<std::int32_t>& order) {
  double total = 0.0;
  for (const std::int32_t id : order) total += static_cast<double>(weights[static_cast<std::size_t>(id)]);
  cut_at_share(weights, static_cast<double>(top_p) * total, order);
}

}  // namespace

bool filters_tokens(const scheduler::SamplingParams& params, std::size_t vocab_size) {
  return has_top_k(params, vocab_size) || has_top_p(params) || params.min_p > 0.0f;
}

void filter_tokens(const scheduler::SamplingParams& params, std::span<const float> logits,
                   std::span<const float> weights, std::vector<std::int32_t>& order) {
  const auto too_light = [&](std::int32_t id) { return weights[static_cast<std::size_t>(id)] < params.min_p; };
  if (has_top_k(params, logits.size())) {
    select_largest(logits, static_cast<std::size_t>(params.top_k), order);
    if (has_top_p(params)) cut_to_nucleus(weights, params.top_p, order);
  } else if (has_top_p(params)) {
    select_nucleus(weights, params.top_p, order);
  } else {
    order.clear();
    for (std::size_t i = 0; i < weights.size(); ++i) {
      if (!too_light(static_cast<std::int32_t>(i))) order.push_back(static_cast<std::int32_t>(i));
    }
    return;
  }
  std::erase_if(order, too_light);
}

}  // namespace trireme::sampling
