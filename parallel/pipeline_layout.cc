#include "parallel/pipeline_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace trireme::parallel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<base::Error> check_shape(int num_ranks, int num_replicas, int num_layers) {
  if (num_ranks < 1 || num_replicas < 1) return base::invalid_argument("ranks and replicas must be at least 1");
  if (num_ranks % num_replicas != 0) {
    return base::invalid_argument(std::to_string(num_ranks) + " ranks cannot be divided into " +
                                  std::to_string(num_replicas) + " replicas of equal size");
  }
  const int num_stages = num_ranks / num_replicas;
  if (num_layers < num_stages) {
    return base::invalid_argument("a model of " + std::to_string(num_layers) + " layers cannot be split over " +
                                  std::to_string(num_stages) + " stages: use at most " + std::to_string(num_layers) +
                                  " ranks per replica");
  }
  return std::nullopt;
}

// Cost of a stage that holds layers [begin, end).
class StageCost {
 public:
  explicit StageCost(const LayerCosts& costs) : embedding_(costs.embedding), head_(costs.head), prefix_{0.0} {
    for (const double cost : costs.layers) prefix_.push_back(prefix_.back() + cost);
  }
  int num_layers() const { return static_cast<int>(prefix_.size()) - 1; }
  double operator()(int begin, int end) const {
    double cost = prefix_[static_cast<std::size_t>(end)] - prefix_[static_cast<std::size_t>(begin)];
    if (begin == 0) cost += embedding_;
    if (end == num_layers()) cost += head_;
    return cost;
  }

 private:
  double embedding_, head_;
  std::vector<double> prefix_;
};

// Dynamic programme over (number of stages, layers that they hold): the best way to extend is remembered.
// `extend(total, stage_cost)` gives the total with one more stage.
template <typename Extend>
std::pair<double, std::vector<LayerRange>> best_split(const StageCost& cost, int num_stages, Extend extend) {
  const auto num_layers = static_cast<std::size_t>(cost.num_layers());
  std::vector<double> totals(num_layers + 1, kInfinity);
  totals[0] = 0.0;
  std::vector<std::vector<int>> begins;  // [num_stages][num_layers + 1]
  for (int stage = 0; stage < num_stages; ++stage) {
    std::vector<double> extended(num_layers + 1, kInfinity);
    std::vector<int> begin_of(num_layers + 1, -1);
    for (int end = stage + 1; end <= cost.num_layers(); ++end) {
      for (int begin = stage; begin < end; ++begin) {
        const double total = extend(totals[static_cast<std::size_t>(begin)], cost(begin, end));
        if (total < extended[static_cast<std::size_t>(end)]) {
          extended[static_cast<std::size_t>(end)] = total;
          begin_of[static_cast<std::size_t>(end)] = begin;
        }
      }
    }
    totals = std::move(extended);
    begins.push_back(std::move(begin_of));
  }

  std::vector<LayerRange> stages(static_cast<std::size_t>(num_stages));
  if (totals[num_layers] == kInfinity) return {kInfinity, {}};
  int end = cost.num_layers();
  for (std::size_t stage = stages.size(); stage-- > 0;) {
    stages[stage] = {begins[stage][static_cast<std::size_t>(end)], end};
    end = stages[stage].begin;
  }
  return {totals[num_layers], std::move(stages)};
}

bool is_cost(double value) {
  return std::isfinite(value) && value >= 0.0;
}

}  // namespace

PipelineLayout::PipelineLayout(int num_replicas, std::vector<LayerRange> stages)
    : num_replicas_(num_replicas), stages_(std::move(stages)) {}

base::Result<PipelineLayout> PipelineLayout::balanced(int num_ranks, int num_replicas, const LayerCosts& costs) {
  if (auto error = check_shape(num_ranks, num_replicas, static_cast<int>(costs.layers.size()))) return *error;
  if (!std::all_of(costs.layers.begin(), costs.layers.end(), is_cost) || !is_cost(costs.embedding) ||
      !is_cost(costs.head)) {
    return base::invalid_argument("costs of layers must be finite and not negative");
  }
  const StageCost cost(costs);
  const int num_stages = num_ranks / num_replicas;
  const double limit =
      best_split(cost, num_stages, [](double total, double stage) { return std::max(total, stage); }).first;
  // Among the splits that reach this limit, the most even one: the least sum of squares.
  auto even = best_split(cost, num_stages, [limit](double total, double stage) {
    return stage <= limit ? total + stage * stage : kInfinity;
  });
  return PipelineLayout(num_replicas, std::move(even.second));
}

base::Result<PipelineLayout> PipelineLayout::with_split(int num_ranks, int num_replicas, int num_layers,
                                                        std::span<const int> split) {
  if (auto error = check_shape(num_ranks, num_replicas, num_layers)) return *error;
  const auto num_stages = static_cast<std::size_t>(num_ranks / num_replicas);
  if (split.size() + 1 != num_stages) {
    return base::invalid_argument("a split over " + std::to_string(num_stages) + " stages needs " +
                                  std::to_string(num_stages - 1) + " numbers, not " + std::to_string(split.size()));
  }
  std::vector<LayerRange> stages;
  int begin = 0;
  for (std::size_t stage = 0; stage < num_stages; ++stage) {
    const int end = stage < split.size() ? split[stage] : num_layers;
    if (end <= begin || end > num_layers) {
      return base::invalid_argument("a split must ascend between 1 and " + std::to_string(num_layers - 1) +
                                    ", but stage " + std::to_string(stage) + " would hold layers [" +
                                    std::to_string(begin) + ", " + std::to_string(end) + ")");
    }
    stages.push_back({begin, end});
    begin = end;
  }
  return PipelineLayout(num_replicas, std::move(stages));
}

}  // namespace trireme::parallel
