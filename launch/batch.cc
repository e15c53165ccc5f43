// trireme batch: answers a file of requests, a row of output for each. Rank 0 reads and writes; all ranks compute.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/batch/batch_options.h"
#include "launch/batch/batch_report.h"
#include "launch/batch/batch_run.h"
#include "launch/batch/step_table.h"
#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/refusal.h"
#include "launch/session.h"
#include "launch/unix_time.h"
#include "runtime/engine/agreement.h"

namespace trireme::launch {
namespace {

using Clock = std::chrono::steady_clock;

// What rank 0 has before the model is loaded: mistakes in files are told at once.
struct BatchFiles {
  InputScan scan;
  LineReader reader;
  ResultLog log;
  std::optional<StepTable> steps;
};

// Of the model and its adapters. What is wrong with one of them, the start will tell.
std::uint64_t model_fingerprint(const config::ModelConfig& model) {
  const auto checkpoint = checkpoint::Checkpoint::open(model.path);
  if (!checkpoint) return 0;
  std::uint64_t fingerprint = (*checkpoint)->fingerprint();
  for (const config::Adapter& adapter : model.adapters) {
    const auto opened = checkpoint::Checkpoint::open_adapter(adapter.path);
    if (!opened) return 0;
    fingerprint = (*opened)->fingerprint_after(fingerprint);
  }
  return fingerprint;
}

base::Result<std::unique_ptr<BatchFiles>> open_files(const CommandContext& context, const BatchOptions& options) {
  const auto scan = scan_input(options.input);
  if (!scan) return scan.error();
  auto reader = LineReader::open(options.input);
  if (!reader) return reader.error();
  if (!options.report.empty() && !std::ofstream(options.report, std::ios::app)) {
    return base::invalid_argument(options.report + ": cannot be written");
  }
  const config::Config& config = context.config.config;
  const JobDescription job{scan->num_bytes, scan->fingerprint, model_fingerprint(config.model),
                           result_settings(options, config)};
  auto log = ResultLog::open(options.output, job, scan->num_lines,
                             options.overwrite ? Existing::kOverwrite : Existing::kGoOn, seconds_since_1970());
  if (!log) return log.error();
  auto files = std::make_unique<BatchFiles>(BatchFiles{*scan, std::move(reader).value(), std::move(log).value(), {}});
  if (options.steps.empty()) return files;
  auto steps = StepTable::create(options.steps);
  if (!steps) return steps.error();
  files->steps = std::move(steps).value();
  return files;
}

void log_beginning(const CommandContext& context, const BatchFiles& files) {
  const std::uint64_t num_done = files.log.done().count();
  if (files.log.num_dropped_bytes() > 0) {
    context.log.warn(files.log.path() + ": " + std::to_string(files.log.num_dropped_bytes()) +
                     " bytes of rows that were torn are cut off");
  }
  context.log.info(std::to_string(files.scan.num_lines) + " lines, " + std::to_string(num_done) + " of them done");
}

Progress::Style progress_style() {
  return ::isatty(STDERR_FILENO) != 0 ? Progress::Style::kRedrawn : Progress::Style::kLines;
}

std::string model_name(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return name.substr(name.rfind('/') + 1);
}

// Where the ranks' time went; their memory is known later.
std::vector<RankUse> ranks_of(engine::RankRuntime& runtime, double run_s) {
  const engine::RankPlan& plan = runtime.plan();
  const auto seconds = [](std::uint64_t micros) { return static_cast<double>(micros) * 1e-6; };
  std::vector<RankUse> ranks;
  for (int rank = 0; rank < plan.layout.num_replicas() * plan.layout.num_stages(); ++rank) {
    RankUse& use = ranks.emplace_back();
    use.rank = rank;
    use.replica = plan.layout.replica_of(rank);
    use.stage = plan.layout.stage_of(rank);
    const auto& stages = runtime.engine().totals().at(static_cast<std::size_t>(use.replica)).stages;
    const engine::StageTotals& totals = stages.at(static_cast<std::size_t>(use.stage));
    use.busy_s = seconds(totals.busy_us);
    use.receive_s = seconds(totals.receive_us);
    use.send_s = seconds(totals.send_us);
    // A stage also counts its wait for the first plan, before the run has begun.
    const double rest_s = std::max(run_s - use.busy_s - use.receive_s - use.send_s, 0.0);
    use.wait_s = std::min(seconds(totals.wait_us), rest_s);
  }
  return ranks;
}

struct BatchOutcome {
  BatchTotals totals;
  std::vector<RankUse> ranks;
  bool has_run = false;
};

BatchTotals totals_before(const BatchFiles& files) {
  BatchTotals totals;
  totals.num_lines = files.scan.num_lines;
  totals.num_done_before = files.log.done().count();
  totals.num_errors_before = files.log.num_error_rows();
  return totals;
}

// Collective over all ranks: then no model need be loaded. `files`: rank 0's.
bool nothing_is_left(const CommandContext& context, const BatchFiles* files) {
  const std::uint64_t num_left = files == nullptr ? 0 : totals_before(*files).num_unfinished();
  return engine::gather(context.world, num_left).front() == 0;
}

int exit_code_of(const CommandContext& context, BatchEnd end, const BatchTotals& totals) {
  if (end == BatchEnd::kStopped) {
    context.log.warn("ended early with " + std::to_string(totals.num_unfinished()) +
                     " lines left; the same command goes on with them");
    return kUnfinished;
  }
  const std::uint64_t num_errors = totals.num_errors + totals.num_errors_before;
  if (num_errors == 0) return kSuccess;
  context.log.warn(std::to_string(num_errors) + " of " + std::to_string(totals.num_lines) + " rows tell of errors");
  return kSomeFailed;
}

int run_batch(const CommandContext& context, engine::RankRuntime& runtime, const BatchOptions& options,
              BatchFiles& files, StopPolicy& stop, BatchOutcome& outcome) {
  outcome.has_run = true;
  BatchTotals& totals = outcome.totals;
  totals = totals_before(files);
  const RequestBinder binder(runtime);
  RowWriter writer(files.log, {model_name(context.config.config.model.path), files.log.created(), runtime.tokenizer()});
  LineSource source({std::move(files.reader), files.scan.num_lines,
                     BatchLineParser(default_spec(options), files.scan.form), &files.log.done(), &binder},
                    [&](const std::string& text) { context.log.warn(text); });
  StopSignals signals;
  ProgressPoint first;
  first.num_done = totals.num_done_before;
  Progress progress(std::cerr, progress_style(), Clock::now(), first);
  if (files.steps) {
    runtime.engine().observe_steps([&steps = *files.steps](const engine::StepRecord& record) { steps.add(record); });
  }
  BatchRun run({&runtime, &source, &writer, &stop, &signals, &progress, &totals});
  const BatchEnd end = run.run();
  outcome.ranks = ranks_of(runtime, totals.seconds);
  if (const auto status = writer.finish(); !status) {
    context.log.error(status.error().message);
    return kFailure;
  }
  if (files.steps) {
    if (const auto status = files.steps->finish(); !status) {
      context.log.error(status.error().message);
      return kFailure;
    }
  }
  if (end != BatchEnd::kFailed) return exit_code_of(context, end, totals);
  context.log.error(source.status().error().message);
  return kFailure;
}

struct RankMemory {
  MemoryUse use;
  char host[64] = {};
};

// Collective over all ranks.
std::vector<RankMemory> gather_memory(const CommandContext& context, PeakMemory& memory) {
  RankMemory mine{memory.read(), {}};
  context.host.copy(mine.host, sizeof mine.host - 1);
  return engine::gather(context.world, mine);
}

int report(const CommandContext& context, const BatchOptions& options, BatchOutcome& outcome,
           const std::vector<RankMemory>& memory) {
  for (RankUse& rank : outcome.ranks) {
    const RankMemory& of_rank = memory.at(static_cast<std::size_t>(rank.rank));
    rank.memory = of_rank.use;
    rank.host = of_rank.host;
  }
  std::cerr << report_text(outcome.totals, outcome.ranks) << std::endl;
  if (options.report.empty()) return kSuccess;
  std::ofstream file(options.report, std::ios::trunc);
  file << report_json(outcome.totals, outcome.ranks);
  if (file.flush()) return kSuccess;
  context.log.error(options.report + ": writing failed");
  return kFailure;
}

StopPolicy stop_policy(const BatchOptions& options) {
  const auto duration = [](double seconds) {
    return std::chrono::duration_cast<StopPolicy::Duration>(std::chrono::duration<double>(seconds));
  };
  std::optional<StopPolicy::Duration> limit;
  if (options.time_limit_s) limit = duration(*options.time_limit_s);
  return {Clock::now(), limit, duration(options.drain_s)};
}

int batch(const CommandContext& context, const BatchOptions& options) {
  StopPolicy stop = stop_policy(options);
  PeakMemory memory;
  std::unique_ptr<BatchFiles> files;
  base::Status mine = check_batch_options(options);
  if (mine.ok() && context.is_root()) {
    auto opened = open_files(context, options);
    if (opened) {
      files = std::move(opened).value();
    } else {
      mine = opened.error();
    }
  }
  if (const auto agreed = engine::agree(context.world, mine); !agreed) {
    return refuse(context, mine ? agreed.error() : mine.error());
  }
  if (files) log_beginning(context, *files);
  if (nothing_is_left(context, files.get()))
    return files ? exit_code_of(context, BatchEnd::kComplete, totals_before(*files)) : static_cast<int>(kSuccess);
  BatchOutcome outcome;
  const int exit_code = run_session(context, [&](engine::RankRuntime& runtime) {
    return run_batch(context, runtime, options, *files, stop, outcome);
  });
  const std::vector<RankMemory> use = gather_memory(context, memory);
  if (!outcome.has_run) return exit_code;
  const int reported = report(context, options, outcome, use);
  return exit_code == kSuccess ? reported : exit_code;
}

}  // namespace

CommandFunction define_batch(CLI::App& app) {
  const auto options = std::make_shared<BatchOptions>();
  add_batch_options(app, *options);
  return [options](const CommandContext& context) { return batch(context, *options); };
}

}  // namespace trireme::launch
