// PipelineLayout: rank → replica, stage and layers. Pure arithmetic, the same on every rank.
// Rank = replica * num_stages + stage, so neighbours in a pipeline are neighbours among the ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace trireme::parallel {

struct LayerRange {
  int begin = 0, end = 0;  // [begin, end)
  int size() const { return end - begin; }
  bool operator==(const LayerRange&) const = default;
};

// Relative cost of computing one token; any unit.
struct LayerCosts {
  std::vector<double> layers;
  double embedding = 0.0;  // added to the first stage
  double head = 0.0;       // added to the last stage
};

class PipelineLayout {
 public:
  // Splits the layers over num_ranks / num_replicas stages so that the most expensive stage is as cheap as possible.
  // Every stage gets at least one layer. Errors: ranks not divisible by replicas, fewer layers than stages.
  static base::Result<PipelineLayout> balanced(int num_ranks, int num_replicas, const LayerCosts& costs);
  // `split` holds the first layer of stages 1, 2, …: {10, 20} over 30 layers gives [0,10) [10,20) [20,30).
  static base::Result<PipelineLayout> with_split(int num_ranks, int num_replicas, int num_layers,
                                                 std::span<const int> split);

  int num_ranks() const { return num_replicas_ * num_stages(); }
  int num_replicas() const { return num_replicas_; }
  int num_stages() const { return static_cast<int>(stages_.size()); }
  int replica_of(int rank) const { return rank / num_stages(); }
  int stage_of(int rank) const { return rank % num_stages(); }
  int rank_of(int replica, int stage) const { return replica * num_stages() + stage; }
  LayerRange layers(int stage) const { return stages_[static_cast<std::size_t>(stage)]; }

 private:
  PipelineLayout(int num_replicas, std::vector<LayerRange> stages);
  int num_replicas_;
  std::vector<LayerRange> stages_;
};

}  // namespace trireme::parallel
