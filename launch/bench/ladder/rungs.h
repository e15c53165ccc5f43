// Rungs: the steps of the ladder. Each adds one optimisation to the one before it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/bench/ladder/full_length_cache.h"
#include "launch/bench/ladder/workload.h"
#include "runtime/config/config.h"

namespace trireme::launch {

enum class Batching { kStatic, kDynamic };
enum class RanksOfRung { kFirst, kAll };  // kFirst: rank 0 alone, with the cores of all ranks on its host

struct Rung {
  std::string key;   // in JSON: "baseline", "weights", "batching", "cache", "reuse", "ranks"
  std::string name;  // what it adds, for people
  Batching batching = Batching::kStatic;
  RanksOfRung ranks = RanksOfRung::kFirst;
  bool changes_numerics = false;  // so that outputs and perplexity may differ from the rung before
  config::Config config;
  bool reserves_full_length = false;  // its cache is to be a FullLengthCache
};

struct LadderSetting {
  config::Config config;  // the user's
  WorkloadShape workload;
  std::int32_t max_batch = 32;       // sequences for which memory is reserved: the budget of every rung's cache
  std::int32_t threads_of_host = 1;  // of all ranks on the first host together
  std::int32_t num_ranks = 1;
};

// From full precision in static batches to all the ranks; the last only if there are several.
std::vector<Rung> make_rungs(const LadderSetting& setting, const FullLengthCache& cache);

}  // namespace trireme::launch
