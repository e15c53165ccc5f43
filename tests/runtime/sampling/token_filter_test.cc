#include "runtime/sampling/token_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/sampling/row_scan.h"
#include "runtime/sampling/softmax_weights.h"
#include "tests/runtime/sampling/test_rows.h"

namespace trireme::sampling {
namespace {

std::vector<std::int32_t> filtered(const scheduler::SamplingParams& params, const std::vector<float>& logits) {
  std::vector<float> weights(logits.size());
  softmax_weights(logits, scan_row(logits).max, 1.0f, weights);
  std::vector<std::int32_t> order;
  filter_tokens(params, logits, weights, order);
  std::sort(order.begin(), order.end());
  return order;
}

// The definition, with a full sort and the library's exponential.
std::vector<std::int32_t> by_definition(const scheduler::SamplingParams& params, const std::vector<float>& logits) {
  const auto logit = [&](std::int32_t id) { return static_cast<double>(logits[static_cast<std::size_t>(id)]); };
  std::vector<std::int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return logit(a) > logit(b); });
  const double max = logit(order[0]);
  if (params.top_k > 0) order.resize(std::min(order.size(), static_cast<std::size_t>(params.top_k)));
  double total = 0.0;
  for (const std::int32_t id : order) total += std::exp(logit(id) - max);
  double before = 0.0;
  std::vector<std::int32_t> kept;
  for (const std::int32_t id : order) {
    const double weight = std::exp(logit(id) - max);
    if (before < params.top_p * total && weight >= params.min_p) kept.push_back(id);
    before += weight;
  }
  std::sort(kept.begin(), kept.end());
  return kept;
}

TEST(TokenFilter, KeepsWhatTheDefinitionKeeps) {
  for (const float deviation : {0.3f, 2.0f, 8.0f}) {
    const std::vector<float> logits = random_logits(2000, 3, deviation);
    for (const std::int32_t top_k : {0, 1, 40, 1500, 5000}) {
      for (const float top_p : {0.05f, 0.5f, 0.93f, 1.0f}) {
        for (const float min_p : {0.0f, 0.07f, 1.0f}) {
          scheduler::SamplingParams params;
          params.top_k = top_k;
          params.top_p = top_p;
          params.min_p = min_p;
          if (!filters_tokens(params, logits.size())) continue;
          EXPECT_EQ(filtered(params, logits), by_definition(params, logits))
              << deviation << ' ' << top_k << ' ' << top_p << ' ' << min_p;
        }
      }
    }
  }
}

TEST(TokenFilter, KeepsTheLowerIdsAmongEquals) {
  scheduler::SamplingParams params;
  params.top_k = 3;
  const std::vector<float> logits = {1.0f, 2.0f, 1.0f, 1.0f, 2.0f, 1.0f};
  EXPECT_EQ(filtered(params, logits), (std::vector<std::int32_t>{0, 1, 4}));
  params.top_k = 0;
  params.top_p = 0.5f;
  EXPECT_EQ(filtered(params, std::vector<float>(8, 1.0f)), (std::vector<std::int32_t>{0, 1, 2, 3}));
}

TEST(TokenFilter, AlwaysLeavesOneToken) {
  scheduler::SamplingParams params;
  params.top_p = 1e-30f;
  params.min_p = 1.0f;
  EXPECT_EQ(filtered(params, random_logits(100, 5)).size(), 1U);
}

TEST(TokenFilter, HasNothingToDoWhereAllIsAllowed) {
  scheduler::SamplingParams params;
  EXPECT_FALSE(filters_tokens(params, 10));
  params.top_k = 10;
  EXPECT_FALSE(filters_tokens(params, 10));
  params.top_k = 9;
  EXPECT_TRUE(filters_tokens(params, 10));
}

}  // namespace
}  // namespace trireme::sampling
