#include "launch/bench/bench_report.h"

#include <nlohmann/json.hpp>

#include "launch/format.h"

namespace trireme::launch {
namespace {

using nlohmann::ordered_json;

void add_spread(ordered_json& object, const std::string& name, const Repetitions& values) {
  object[name] = values.median();
  object["min"] = values.min();
  object["max"] = values.max();
}

void add_bound(ordered_json& object, double rate, const Bound& bound) {
  if (bound.tokens_per_s <= 0.0) return;
  object["bound_by"] = bound.by;
  object["limit_tokens_per_s"] = bound.tokens_per_s;
  object["of_limit"] = rate / bound.tokens_per_s;
}

ordered_json prefill_json(const BenchReport& report) {
  const double rate = report.prefill_tokens_per_s.median();
  const std::int64_t tokens = report.setting.prompt;
  ordered_json object = {{"tokens", tokens}};
  add_spread(object, "tokens_per_s", report.prefill_tokens_per_s);
  object["gflops"] = report.costs.prefill_operations(tokens) * 1e-9 * rate / static_cast<double>(tokens);
  add_bound(object, rate, prefill_bound(report.costs, report.total_limits(), tokens));
  return object;
}

// Shares of the time, averaged over the ranks of a stage.
ordered_json stage_json(const engine::StageTotals& stage, double seconds, std::int32_t replicas) {
  const auto share = [&](std::uint64_t us) { return static_cast<double>(us) * 1e-6 / (seconds * replicas); };
  return {{"busy", share(stage.busy_us)}, {"wait", share(stage.wait_us)}, {"receive", share(stage.receive_us)},
          {"send", share(stage.send_us)}, {"rows", stage.num_rows},       {"sent_bytes", stage.sent_bytes}};
}

ordered_json decode_json(const BenchReport& report, const DecodeFigures& figures) {
  const double rate = figures.tokens_per_s.median();
  const double steps_per_s = rate / figures.batch;
  ordered_json object = {
      {"batch", figures.batch}, {"context", report.setting.context}, {"tokens", report.setting.num_decoded}};
  add_spread(object, "tokens_per_s", figures.tokens_per_s);
  object["weights_gb_per_s"] = report.costs.weight_bytes * 1e-9 * steps_per_s;
  object["gflops"] = report.costs.decode_operations(figures.batch) * 1e-9 * steps_per_s;
  add_bound(object, rate, decode_bound(report.costs, report.total_limits(), figures.batch));
  if (figures.num_preemptions > 0) object["preemptions"] = figures.num_preemptions;
  object["stages"] = ordered_json::array();
  for (const auto& stage : figures.stages) {
    object["stages"].push_back(stage_json(stage, figures.seconds, report.setting.replicas));
  }
  return object;
}

ordered_json limits_json(const BenchReport& report) {
  const LimitRepetitions& limits = report.limits;
  const MachineLimits medians = limits.medians();
  ordered_json object = {{"threads", report.setting.limit_threads},
                         {"read_gb_per_s", medians.read_gb_per_s},
                         {"gemm_f32_gflops", medians.gemm_f32_gflops},
                         {"gemm_int8_gops", medians.gemm_int8_gops}};
  object["max"] = {{"read_gb_per_s", limits.read_gb_per_s.max()},
                   {"gemm_f32_gflops", limits.gemm_f32_gflops.max()},
                   {"gemm_int8_gops", limits.gemm_int8_gops.max()}};
  object["libraries"] = report.setting.gemm_libraries;
  object["missing"] = report.setting.missing_libraries;
  return object;
}

std::string rate_line(const char* name, std::int32_t count, const Repetitions& rate, const Bound& bound) {
  std::string line = format("%-8s %5d  %9.1f  %9.1f - %-9.1f", name, count, rate.median(), rate.min(), rate.max());
  if (bound.tokens_per_s > 0.0) {
    line += format("  %5.1f %% of %.0f (%s)", 100.0 * rate.median() / bound.tokens_per_s, bound.tokens_per_s, bound.by);
  }
  return line + "\n";
}

std::string setting_text(const BenchSetting& setting) {
  std::string text = setting.model + " (" + setting.architecture + "), weights " + setting.weights + ", KV cache " +
                     setting.key + "/" + setting.value + "\n" + setting.cpu + ", " + setting.kernels + " kernels; ";
  text += format("%d ranks of %d threads on %d hosts: %d replicas of %d stages\n", setting.ranks,
                 setting.threads_per_rank, setting.hosts, setting.replicas, setting.stages);
  return text;
}

std::string limits_text(const BenchReport& report) {
  const MachineLimits limits = report.limits.medians();
  std::string text =
      format("limits of a host's %d cores: memory %.1f GB/s, float32 GEMM %.0f GFLOP/s, int8 GEMM %.0f GOP/s",
             report.setting.limit_threads, limits.read_gb_per_s, limits.gemm_f32_gflops, limits.gemm_int8_gops);
  for (const std::string& name : report.setting.gemm_libraries) text += "; " + name;
  for (const std::string& why : report.setting.missing_libraries) text += "; missing: " + why;
  return text + "\n";
}

}  // namespace

MachineLimits LimitRepetitions::medians() const {
  if (!measured()) return {};
  return {read_gb_per_s.median(), gemm_f32_gflops.median(), gemm_int8_gops.median()};
}

MachineLimits BenchReport::total_limits() const {
  const MachineLimits one = limits.medians();
  return {one.read_gb_per_s * setting.hosts, one.gemm_f32_gflops * setting.hosts, one.gemm_int8_gops * setting.hosts};
}

std::string to_text(const BenchReport& report) {
  std::string text = setting_text(report.setting);
  if (report.limits.measured()) text += limits_text(report);
  const MachineLimits limits = report.total_limits();
  text += format("tokens/s, median and range of %zu\n", report.prefill_tokens_per_s.count());
  text += rate_line("prefill", report.setting.prompt, report.prefill_tokens_per_s,
                    prefill_bound(report.costs, limits, report.setting.prompt));
  for (const DecodeFigures& figures : report.decode) {
    text += rate_line("decode", figures.batch, figures.tokens_per_s, decode_bound(report.costs, limits, figures.batch));
    if (figures.num_preemptions > 0) {
      text += format("         %ld preemptions: --kv-memory is too small for this batch\n",
                     static_cast<long>(figures.num_preemptions));
    }
  }
  return text;
}

std::string to_json(const BenchReport& report) {
  const BenchSetting& setting = report.setting;
  ordered_json object = {{"model", setting.model},
                         {"architecture", setting.architecture},
                         {"weights", setting.weights},
                         {"weight_bytes_per_step", report.costs.weight_bytes},
                         {"kv_cache", {{"key", setting.key}, {"value", setting.value}}},
                         {"cpu", setting.cpu},
                         {"kernels", setting.kernels},
                         {"ranks", setting.ranks},
                         {"hosts", setting.hosts},
                         {"replicas", setting.replicas},
                         {"stages", setting.stages},
                         {"threads_per_rank", setting.threads_per_rank},
                         {"repetitions", report.prefill_tokens_per_s.count()},
                         {"versions", {{"trireme", setting.trireme_version}, {"mpi", setting.mpi_version}}}};
  object["prefill"] = prefill_json(report);
  object["decode"] = ordered_json::array();
  for (const DecodeFigures& figures : report.decode) object["decode"].push_back(decode_json(report, figures));
  if (report.limits.measured()) object["limits"] = limits_json(report);
  return object.dump(2);
}

}  // namespace trireme::launch
