#include "runtime/sampling/sampler.h"

#include <algorithm>
#include <cstddef>

#include "base/check.h"
#include "runtime/sampling/philox.h"
#include "runtime/sampling/row_scan.h"
#include "runtime/sampling/softmax_weights.h"
#include "runtime/sampling/token_filter.h"

namespace trireme::sampling {
namespace {

constexpr std::size_t kDrawBlock = 256;

// The first of `count` parts that `target` falls into when they are laid end to end; `target` becomes the distance from
// that part's start. Rounding may leave the target behind the last part: then the last one with any width.
template <typename PartAt>
std::size_t find_part(std::size_t count, const PartAt& part_at, double& target) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto width = static_cast<double>(part_at(i));
    if (target < width) return i;
    target -= width;
    if (width > 0.0) last = i;
  }
  return last;
}

// Inverse of the cumulative distribution over ids in order; u in [0, 1). Sums of blocks first, so that only one block
// is searched token by token.
std::int32_t draw_from_all(std::span<const float> weights, double u, std::vector<double>& block_sums) {
  const auto block_at = [weights](std::size_t block) {
    const std::size_t begin = block * kDrawBlock;
    return weights.subspan(begin, std::min(kDrawBlock, weights.size() - begin));
  };
  block_sums.resize((weights.size() + kDrawBlock - 1) / kDrawBlock);
  double total = 0.0;
  for (std::size_t block = 0; block < block_sums.size(); ++block) total += block_sums[block] = sum(block_at(block));
  double target = u * total;
  const std::size_t block = find_part(
      block_sums.size(), [&](std::size_t i) { return block_sums[i]; }, target);
  const std::span<const float> chosen = block_at(block);
  const std::size_t offset = find_part(
      chosen.size(), [&](std::size_t i) { return chosen[i]; }, target);
  return static_cast<std::int32_t>(block * kDrawBlock + offset);
}

// The same over the ids in `order`.
std::int32_t draw_from(std::span<const std::int32_t> order, std::span<const float> weights, double u) {
  const auto weight_at = [&](std::size_t i) { return weights[static_cast<std::size_t>(order[i])]; };
  double total = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) total += static_cast<double>(weight_at(i));
  double target = u * total;
  return order[find_part(order.size(), weight_at, target)];
}

}  // namespace

double uniform(std::uint64_t seed, std::uint32_t choice_index, std::int64_t position) {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto high = [](std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); };
  const auto place = static_cast<std::uint64_t>(position);
  const auto words = philox4x32_10({low(place), high(place), choice_index, 0}, {low(seed), high(seed)});
  const std::uint64_t bits = (std::uint64_t{words[0]} << 32) | words[1];
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

std::span<const float> Sampler::adjust(const SampleArgs& args) {
  if (!adjusts_logits(*args.params)) return args.logits;
  adjusted_.assign(args.logits.begin(), args.logits.end());
  adjuster_.adjust(*args.params, args.history, args.prompt_length, adjusted_);
  return adjusted_;
}

scheduler::TokenId Sampler::draw(const SampleArgs& args, std::span<const float> logits, float max) {
  const scheduler::SamplingParams& params = *args.params;
  weights_.resize(logits.size());
  softmax_weights(logits, max, params.temperature, weights_);
  const double u = uniform(params.seed, args.choice_index, args.position);
  if (!filters_tokens(params, logits.size())) return draw_from_all(weights_, u, block_sums_);
  filter_tokens(params, logits, weights_, order_);
  return draw_from(order_, weights_, u);
}

scheduler::SampledToken Sampler::sample(const SampleArgs& args) {
  TRIREME_CHECK(args.params != nullptr && !args.logits.empty());
  scheduler::SampledToken result;
  RowScan scan = scan_row(args.logits);
  const std::span<const float> logits = adjust(args);
  // A bias may forbid the very last token that the model's own mask left: nothing to draw, like a faulty row.
  if (scan.finite && logits.data() != args.logits.data()) scan = scan_row(logits);
  if (!scan.finite) {
    result.non_finite = true;
    return result;
  }
  result.token = args.params->temperature > 0.0f ? draw(args, logits, scan.max) : scan.argmax;
  if (args.params->num_logprobs >= 0) {
    result.logprob = args.logits[static_cast<std::size_t>(result.token)] - args.log_sum_exp;
    result.top = top_logprobs(args.logits, args.log_sum_exp, args.params->num_logprobs);
  }
  return result;
}

}  // namespace trireme::sampling
