// The options of `trireme batch`, and what of them the results depend on.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "launch/request_spec.h"
#include "launch/sampling_options.h"
#include "runtime/config/config.h"

namespace CLI {
class App;
}

namespace trireme::launch {

struct BatchOptions : SamplingOptions {  // for lines in the plain form that say nothing of it
  std::string input, output;
  bool overwrite = false;
  std::string report, steps;  // empty: no file
  std::optional<double> time_limit_s;
  double drain_s = 60.0;
};

// Registers the options; `options` outlives `app`.
void add_batch_options(CLI::App& app, BatchOptions& options);
base::Status check_batch_options(const BatchOptions& options);

// What a plain line that gives nothing but a prompt asks for.
RequestSpec default_spec(const BatchOptions& options);

// Name and value of every setting that results depend on: a job may go on only where they are the same. The numbers of
// ranks, replicas and threads are not among them.
std::vector<std::pair<std::string, std::string>> result_settings(const BatchOptions& options,
                                                                 const config::Config& config);

}  // namespace trireme::launch
