// The options that say how tokens are drawn and when an output ends; `generate` and `batch` share them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "scheduler/request.h"

namespace CLI {
class App;
}

namespace trireme::launch {

struct SamplingOptions {
  scheduler::SamplingParams sampling;
  std::int32_t max_tokens = 256;
  std::vector<std::string> stop;
  bool ignore_eos = false;
};

// Registers the options; `options` outlives `app`. Ranges are checked while parsing.
void add_sampling_options(CLI::App& app, SamplingOptions& options);

// What the parser cannot refuse on its own.
base::Status check_sampling_options(const SamplingOptions& options);

}  // namespace trireme::launch
