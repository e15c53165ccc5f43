#include "launch/bench/ladder/ladder_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace trireme::launch {

std::int32_t LadderOptions::largest_batch() const {
  return *std::max_element(static_batches.begin(), static_batches.end());
}

void add_ladder_options(CLI::App& app, LadderOptions& options) {
  constexpr std::int32_t kMaxCount = 1 << 20;
  constexpr std::int32_t kMaxBatch = 4096;
  CLI::Option* ladder = app.add_flag(
      "--ladder", options.wanted,
      "instead: one workload through full precision in static padded batches, then 8-bit weights, dynamic batching, "
      "chunked KV cache, reuse, and all ranks, one after the other: what each of them helps");
  const auto count = [&](const char* name, std::int32_t& value, std::int32_t least, const char* help) {
    app.add_option(name, value, help)->check(CLI::Range(least, kMaxCount))->capture_default_str()->needs(ladder);
  };
  count("--requests", options.workload.num_requests, 1, "ladder: requests, a fifth of them long, a third repeated");
  count("--clients", options.workload.num_clients, 1, "ladder: clients, each of which waits for one answer at a time");
  count("--short-prompt", options.workload.short_prompt, 1,
        "ladder: tokens of a short prompt; a long one has five times");
  count("--short-output", options.workload.short_output, 1,
        "ladder: tokens of a short answer; a long one has five times");
  app.add_option("--static-batches", options.static_batches,
                 "ladder: sizes of static batches, of which the best counts")
      ->delimiter(',')
      ->check(CLI::Range(1, kMaxBatch))
      ->capture_default_str()
      ->needs(ladder);
  app.add_option("--file", options.text_path,
                 "ladder: text whose perplexity is told; default: one of the program's own")
      ->type_name("TEXT")
      ->needs(ladder);
  app.add_option("--chart", options.chart_path, "ladder: draw the rungs into a file, as SVG")
      ->type_name("FILE")
      ->needs(ladder);
}

}  // namespace trireme::launch
