#include "launch/bench/ladder/ladder.h"

#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include "launch/bench/ladder/ladder_chart.h"
#include "launch/bench/ladder/ladder_progress.h"
#include "launch/bench/ladder/ladder_report.h"
#include "launch/bench/ladder/ladder_trial.h"
#include "launch/bench/ladder/sample_text.h"
#include "launch/exit_codes.h"
#include "launch/output_file.h"
#include "launch/rank_cores.h"
#include "launch/refusal.h"
#include "launch/session.h"
#include "launch/text_input.h"
#include "launch/version.h"
#include "parallel/mpi_environment.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/device/processor_name.h"
#include "runtime/engine/agreement.h"
#include "runtime/model/architecture.h"

namespace trireme::launch {
namespace {

using Outputs = std::vector<std::vector<scheduler::TokenId>>;

std::size_t num_different(const Outputs& a, const Outputs& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

class Ladder {
 public:
  Ladder(const CommandContext& context, const LadderOptions& options, const std::string& json_path)
      : context_(context), options_(options), json_("--json", json_path), chart_("--chart", options.chart_path) {}

  int run() {
    const auto prepared = engine::agree(context_.world, engine::attempt([this] { return prepare(); }));
    if (!prepared) return refuse(context_, prepared.error());
    const FullLengthCache cache(model_, longest_sequence(options_.workload));
    workload_ = make_workload(options_.workload, model_.vocab_size);
    describe();
    rungs_ = make_rungs(setting(), cache);
    if (context_.is_root()) std::cout << table_header(report_) << std::flush;
    for (std::size_t rung = 0; rung < rungs_.size(); ++rung) {
      if (const int exit_code = climb(rung, cache); exit_code != kSuccess) return exit_code;
    }
    return context_.is_root() ? finish() : static_cast<int>(kSuccess);
  }

 private:
  // Before anything is computed: on every rank what the model is, on rank 0 the files.
  base::Status prepare() {
    const config::Config& config = context_.config.config;
    if (auto status = check_session(config); !status) return status;
    auto checkpoint = checkpoint::Checkpoint::open(config.model.path);
    if (!checkpoint) return checkpoint.error();
    if ((*checkpoint)->conversion() != nullptr) {
      return base::invalid_argument(config.model.path + ": --ladder needs the model that this was converted from");
    }
    auto model = model::describe_model(**checkpoint);
    if (!model) return model.error();
    model_ = std::move(*model);
    const std::int32_t longest = longest_sequence(options_.workload);
    if (longest > model_.max_positions) {
      return base::invalid_argument("--ladder: a long request has " + std::to_string(longest) +
                                    " tokens, the model's context " + std::to_string(model_.max_positions) +
                                    ": lower --short-prompt or --short-output");
    }
    return context_.is_root() ? open_files() : base::ok_status();
  }

  base::Status open_files() {
    if (auto status = json_.open(); !status) return status;
    if (auto status = chart_.open(); !status) return status;
    text_ = sample_text();
    if (options_.text_path.empty()) return base::ok_status();
    auto text = read_text(options_.text_path);
    if (!text) return text.error();
    text_ = std::move(*text);
    return base::ok_status();
  }

  LadderSetting setting() const {
    LadderSetting setting;
    setting.config = context_.config.config;
    setting.workload = options_.workload;
    setting.max_batch = options_.largest_batch();
    setting.threads_of_host = static_cast<std::int32_t>(cores_of_job_on_host(context_).size());
    setting.num_ranks = context_.world.size();
    return setting;
  }

  void describe() {
    report_.model = context_.config.config.model.path;
    report_.architecture = model_.architecture;
    report_.cpu = device::processor_name();
    report_.trireme_version = version();
    report_.mpi_version = parallel::MpiEnvironment::library_version();
    report_.workload = options_.workload;
    report_.num_repeats = static_cast<std::size_t>(
        std::ranges::count_if(workload_, [](const WorkItem& item) { return item.repeats.has_value(); }));
    report_.ranks = context_.world.size();
    report_.hosts = std::max(1, context_.world.size() / context_.local_size);
    report_.perplexity_text = options_.text_path.empty() ? "built in" : options_.text_path;
  }

  // Collective: one rung, with every size of static batches.
  int climb(std::size_t index, const FullLengthCache& cache) {
    const Rung& rung = rungs_[index];
    RungReport row;
    row.rung = rung;
    const bool is_static = rung.batching == Batching::kStatic;
    const std::vector<std::int32_t> batches = is_static ? options_.static_batches : std::vector<std::int32_t>{0};
    for (const std::int32_t batch : batches) {
      Trial trial{rung, rung.config, batch, {}, {}};
      if (rung.reserves_full_length) cache.reserve(is_static ? batch : options_.largest_batch(), trial.config);
      if (rung.changes_numerics && batch == batches.front()) trial.score_text = text_;
      TrialResult result;
      if (const int exit_code = attempt(index, trial, result); exit_code != kSuccess) return exit_code;
      if (context_.is_root()) enter(result, batch, row);
    }
    if (!context_.is_root()) return kSuccess;
    report_.rungs.push_back(std::move(row));
    std::cout << table_row(report_, index) << std::flush;
    return kSuccess;
  }

  int attempt(std::size_t index, Trial& trial, TrialResult& result) {
    const TrialPlace place{context_, workload_, options_.workload};
    if (!context_.is_root()) return run_trial(place, trial, result);
    LadderProgress progress(context_.log,
                            "rung " + std::to_string(index + 1) + " of " + std::to_string(rungs_.size()) +
                                (trial.batch > 0 ? ", static batches of " + std::to_string(trial.batch) : ""),
                            workload_.size());
    trial.progress = [&progress](std::size_t num_answered) { progress.answered(num_answered); };
    return run_trial(place, trial, result);
  }

  // Of several sizes of static batches, the one with the highest throughput stands for the rung.
  void enter(TrialResult& result, std::int32_t batch, RungReport& row) {
    const RunFigures figures = figures_of(result.run);
    if (batch > 0) row.static_trials.push_back({batch, figures});
    if (row.rung.changes_numerics && row.perplexity == std::nullopt) {
      row.perplexity = result.perplexity;  // the first trial of new numerics: there is nothing to compare with
    } else {
      row.num_different = row.num_different.value_or(0) + num_different(result.run.outputs, outputs_);
    }
    outputs_ = std::move(result.run.outputs);
    report_.kernels = result.kernels;
    if (figures.tokens_per_s <= row.figures.tokens_per_s) return;
    row.figures = figures;
    row.batch = batch;
    row.num_ranks = result.num_ranks;
    row.replicas = result.replicas;
    row.stages = result.stages;
    row.threads_per_rank = result.threads_per_rank;
    row.peak_bytes = result.peak_bytes;
  }

  int finish() {
    if (rungs_.back().ranks == RanksOfRung::kFirst) std::cout << "one rank; mpirun -n P adds a rung for P of them\n";
    for (auto [file, text] : {std::pair{&json_, to_json(report_) + "\n"}, {&chart_, ladder_chart(report_)}}) {
      if (const auto written = file->write(text); !written) return refuse(context_, written.error());
    }
    return kSuccess;
  }

  const CommandContext& context_;
  const LadderOptions& options_;
  OutputFile json_, chart_;
  std::string text_;
  model::ModelDescription model_;
  Workload workload_;
  std::vector<Rung> rungs_;
  LadderReport report_;  // of rank 0
  Outputs outputs_;      // of the last trial
};

}  // namespace

int run_ladder(const CommandContext& context, const LadderOptions& options, const std::string& json_path) {
  return Ladder(context, options, json_path).run();
}

}  // namespace trireme::launch
