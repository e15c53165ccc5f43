// What a user can say of `trireme bench --ladder`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/bench/ladder/workload.h"

namespace CLI {
class App;
}

namespace trireme::launch {

struct LadderOptions {
  bool wanted = false;
  WorkloadShape workload;
  std::vector<std::int32_t> static_batches{4, 8, 16, 32};
  std::string text_path;   // whose perplexity is told; empty: a text of the program's own
  std::string chart_path;  // SVG; empty: none

  std::int32_t largest_batch() const;
};

void add_ladder_options(CLI::App& app, LadderOptions& options);

}  // namespace trireme::launch
