#include "launch/bench/ladder/ladder_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/dtype.h"
#include "launch/format.h"
#include "runtime/config/weights_names.h"

namespace trireme::launch {
namespace {

using nlohmann::ordered_json;

constexpr double kP99 = 0.99;

const char* to_string(Batching batching) {
  return batching == Batching::kStatic ? "static" : "dynamic";
}

const RunFigures& before(const LadderReport& report, std::size_t rung) {
  return report.rungs[rung > 0 ? rung - 1 : 0].figures;
}

ordered_json workload_json(const LadderReport& report) {
  const WorkloadShape& shape = report.workload;
  return {{"requests", shape.num_requests},
          {"clients", shape.num_clients},
          {"repeated", report.num_repeats},
          {"short", {{"prompt_tokens", shape.short_prompt}, {"output_tokens", shape.short_output}}},
          {"long",
           {{"prompt_tokens", kLongFactor * shape.short_prompt}, {"output_tokens", kLongFactor * shape.short_output}}},
          {"seed", shape.seed}};
}

void add_figures(ordered_json& object, const RunFigures& figures) {
  object["answered"] = figures.num_answered;
  object["seconds"] = figures.seconds;
  object["tokens_per_s"] = figures.tokens_per_s;
  object["mean_latency_s"] = figures.mean_latency_s;
  object["p99_latency_s"] = figures.p99_latency_s;
  object["padding_waste"] = figures.padding_share;
  object["computed_rows"] = figures.computed_rows;
}

ordered_json ratios(const RunFigures& figures, const RunFigures& other) {
  return {{"tokens_per_s", figures.tokens_per_s / other.tokens_per_s},
          {"mean_latency_s", figures.mean_latency_s / other.mean_latency_s},
          {"p99_latency_s", figures.p99_latency_s / other.p99_latency_s}};
}

// `before`: of the rung before; of the first one, its own.
ordered_json rung_json(const RungReport& report, const RunFigures& first, const RunFigures& before) {
  const config::Config& config = report.rung.config;
  ordered_json object = {{"key", report.rung.key},
                         {"name", report.rung.name},
                         {"weights", config::to_string(config.model.weights)},
                         {"kv_cache",
                          {{"key", base::to_string(config.kv_cache.key)},
                           {"value", base::to_string(config.kv_cache.value)},
                           {"reserved_at_full_length", report.rung.reserves_full_length}}},
                         {"batching", to_string(report.rung.batching)},
                         {"ranks", report.num_ranks},
                         {"replicas", report.replicas},
                         {"stages", report.stages},
                         {"threads_per_rank", report.threads_per_rank}};
  if (report.batch > 0) object["batch"] = report.batch;
  add_figures(object, report.figures);
  object["ratio_to_first"] = ratios(report.figures, first);
  object["ratio_to_before"] = ratios(report.figures, before);
  object["prefix_hit_rate"] = report.figures.prefix_hit_rate;
  object["response_hit_rate"] = report.figures.response_hit_rate;
  object["preemptions"] = report.figures.num_preemptions;
  object["peak_memory_bytes"] = report.peak_bytes;
  if (report.perplexity) object["perplexity"] = *report.perplexity;
  if (report.num_different) object["differing_outputs"] = *report.num_different;
  for (const StaticTrial& trial : report.static_trials) {
    ordered_json tried = {{"batch", trial.batch}};
    add_figures(tried, trial.figures);
    object["static_batches"].push_back(std::move(tried));
  }
  return object;
}

}  // namespace

RunFigures figures_of(const WorkloadRun& run) {
  RunFigures figures;
  figures.seconds = run.seconds;
  figures.tokens_per_s = run.tokens_per_s();
  figures.mean_latency_s = run.mean_latency_s();
  figures.p99_latency_s = run.latency_quantile_s(kP99);
  figures.padding_share = run.padding_share();
  figures.prefix_hit_rate = run.prefix_hit_rate();
  figures.response_hit_rate = run.response_hit_rate();
  figures.computed_rows = run.computed_rows;
  figures.num_preemptions = run.num_preemptions;
  figures.num_answered =
      static_cast<std::size_t>(std::ranges::count_if(run.outputs, [](const auto& output) { return !output.empty(); }));
  return figures;
}

std::int64_t RungReport::max_peak_bytes() const {
  return peak_bytes.empty() ? 0 : *std::max_element(peak_bytes.begin(), peak_bytes.end());
}

std::string table_header(const LadderReport& report) {
  const WorkloadShape& shape = report.workload;
  return report.model + " (" + report.architecture + "), " + report.cpu + "\n" +
         format("%d requests of %d clients, %zu of them repeated: four of %d + %d tokens to one of %d + %d\n",
                shape.num_requests, shape.num_clients, report.num_repeats, shape.short_prompt, shape.short_output,
                kLongFactor * shape.short_prompt, kLongFactor * shape.short_output) +
         format("%-44s %5s %9s %7s %6s %8s %6s %8s %6s %8s %7s %7s %9s %10s\n", "rung", "batch", "tokens/s", "ratio",
                "step", "mean s", "ratio", "P99 s", "ratio", "padding", "prefix", "answers", "MiB/rank", "perplexity");
}

std::string table_row(const LadderReport& report, std::size_t rung) {
  const RungReport& row = report.rungs[rung];
  const RunFigures& figures = row.figures;
  const RunFigures& first = report.rungs.front().figures;
  std::string line =
      format("%zu %-42s %5s %9.1f %7.2f %6.2f", rung + 1, row.rung.name.c_str(),
             row.batch > 0 ? std::to_string(row.batch).c_str() : "", figures.tokens_per_s,
             figures.tokens_per_s / first.tokens_per_s, figures.tokens_per_s / before(report, rung).tokens_per_s);
  line += format(" %8.2f %6.2f %8.2f %6.2f", figures.mean_latency_s, figures.mean_latency_s / first.mean_latency_s,
                 figures.p99_latency_s, figures.p99_latency_s / first.p99_latency_s);
  line += format(" %6.1f %% %5.1f %% %5.1f %% %9.1f", 100.0 * figures.padding_share, 100.0 * figures.prefix_hit_rate,
                 100.0 * figures.response_hit_rate, static_cast<double>(row.max_peak_bytes()) / (1 << 20));
  line += row.perplexity ? format(" %10.3f", *row.perplexity) : format(" %10s", "same");
  if (row.num_different.value_or(0) > 0) line += format("  %zu OUTPUTS DIFFER", *row.num_different);
  return line + "\n";
}

std::string to_json(const LadderReport& report) {
  ordered_json object = {{"model", report.model},
                         {"architecture", report.architecture},
                         {"cpu", report.cpu},
                         {"kernels", report.kernels},
                         {"ranks", report.ranks},
                         {"hosts", report.hosts},
                         {"versions", {{"trireme", report.trireme_version}, {"mpi", report.mpi_version}}},
                         {"workload", workload_json(report)},
                         {"perplexity_text", report.perplexity_text}};
  object["rungs"] = ordered_json::array();
  for (std::size_t rung = 0; rung < report.rungs.size(); ++rung) {
    object["rungs"].push_back(rung_json(report.rungs[rung], report.rungs.front().figures, before(report, rung)));
  }
  return object.dump(2);
}

}  // namespace trireme::launch
