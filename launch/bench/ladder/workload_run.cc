#include "launch/bench/ladder/workload_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "launch/bench/ladder/padded_batch.h"

namespace trireme::launch {
namespace {

double share_of(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

}  // namespace

std::int64_t WorkloadRun::output_tokens() const {
  std::size_t sum = 0;
  for (const auto& output : outputs) sum += output.size();
  return static_cast<std::int64_t>(sum);
}

double WorkloadRun::mean_latency_s() const {
  return std::accumulate(latencies_s.begin(), latencies_s.end(), 0.0) / static_cast<double>(latencies_s.size());
}

double WorkloadRun::latency_quantile_s(double share) const {
  std::vector<double> sorted = latencies_s;
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

double WorkloadRun::padding_share() const {
  return share_of(padding_rows, computed_rows);
}

double WorkloadRun::prefix_hit_rate() const {
  return share_of(prefix_hit_tokens, prefix_query_tokens);
}

double WorkloadRun::response_hit_rate() const {
  return share_of(response_hits, static_cast<std::int64_t>(latencies_s.size()));
}

base::Status check_fits(const engine::RankRuntime& runtime, const Workload& workload) {
  std::vector<std::size_t> all(workload.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const PaddedBatch longest = pad(workload, all);
  const std::int32_t tokens = longest.prompt_tokens + longest.output_tokens;
  if (tokens <= runtime.plan().max_context) return base::ok_status();
  return base::invalid_argument("the longest prompt and output have " + std::to_string(tokens) +
                                " tokens, the context (max_context) " + std::to_string(runtime.plan().max_context));
}

}  // namespace trireme::launch
