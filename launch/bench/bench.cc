// trireme bench: how fast this pipeline is, next to what the machine can do at most. Limits, prefill and decoding take
// turns, so that whatever else the machine does meets all of them alike.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launch/bench/bench_report.h"
#include "launch/bench/ladder/ladder.h"
#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/output_file.h"
#include "launch/rank_cores.h"
#include "launch/refusal.h"
#include "launch/session.h"
#include "launch/version.h"
#include "parallel/mpi_environment.h"
#include "runtime/device/host_memory.h"
#include "runtime/device/processor_name.h"
#include "runtime/engine/agreement.h"

namespace trireme::launch {
namespace {

struct BenchOptions {
  std::int32_t prompt = 512;
  DecodeShape decode;
  std::vector<std::int32_t> batches{1, 4, 8, 16, 32};
  std::int32_t repetitions = 5;
  bool without_limits = false;
  std::string json_path;
  LadderOptions ladder;
};

constexpr std::int32_t kMaxTokens = 1 << 24;
constexpr std::int32_t kMaxBatch = 4096;

std::unique_ptr<LimitMeter> make_meter(const CommandContext& context, const BenchOptions& options,
                                       BenchSetting& setting) {
  if (options.without_limits) return nullptr;
  const std::int64_t available = device::read_host_memory().usable_bytes();
  auto meter = std::make_unique<LimitMeter>(cores_of_job_on_host(context),
                                            static_cast<std::size_t>(std::max<std::int64_t>(0, available)));
  setting.limit_threads = meter->num_threads();
  setting.gemm_libraries = meter->library_names();
  setting.missing_libraries = meter->missing_libraries();
  return meter;
}

BenchSetting setting_of(const CommandContext& context, const engine::RankRuntime& runtime,
                        const BenchOptions& options) {
  const config::Config& config = context.config.config;
  const parallel::PipelineLayout& layout = runtime.plan().layout;
  BenchSetting setting;
  setting.model = config.model.path;
  setting.architecture = runtime.description().architecture;
  setting.weights = model::describe_formats(model::all_matrices(runtime.weights(), runtime.description()));
  setting.key = base::to_string(config.kv_cache.key);
  setting.value = base::to_string(config.kv_cache.value);
  setting.kernels = runtime.ops_name();
  setting.cpu = device::processor_name();
  setting.ranks = context.world.size();
  setting.hosts = std::max(1, context.world.size() / context.local_size);
  setting.replicas = layout.num_replicas();
  setting.stages = layout.num_stages();
  setting.threads_per_rank = static_cast<std::int32_t>(cores_of_this_rank(context).cores.size());
  setting.prompt = options.prompt;
  setting.context = options.decode.context;
  setting.num_decoded = options.decode.num_decoded;
  setting.trireme_version = version();
  setting.mpi_version = parallel::MpiEnvironment::library_version();
  return setting;
}

void measure_limits(LimitMeter& meter, LimitRepetitions& limits) {
  const MachineLimits measured = meter.measure();
  limits.read_gb_per_s.add(measured.read_gb_per_s);
  limits.gemm_f32_gflops.add(measured.gemm_f32_gflops);
  limits.gemm_int8_gops.add(measured.gemm_int8_gops);
}

// Adds one measurement to each figure of the report. Seeds differ between repetitions, so that no prompt is known.
base::Status measure_once(engine::RankRuntime& runtime, const BenchOptions& options, std::uint64_t seed,
                          BenchReport& report) {
  const auto prefill = prefill_rate(runtime, options.prompt, seed);
  if (!prefill) return prefill.error();
  report.prefill_tokens_per_s.add(*prefill);
  for (DecodeFigures& figures : report.decode) {
    DecodeShape shape = options.decode;
    shape.batch = figures.batch;
    const auto run = decode_rate(runtime, shape, seed * kMaxBatch + static_cast<std::uint64_t>(figures.batch));
    if (!run) return run.error();
    figures.tokens_per_s.add(run->tokens_per_s);
    figures.num_preemptions += run->num_preemptions;
    figures.seconds += run->seconds;
    figures.stages.resize(run->stages.size());
    for (std::size_t stage = 0; stage < run->stages.size(); ++stage) figures.stages[stage] += run->stages[stage];
  }
  return base::ok_status();
}

// First touches of memory, sleeping cores. Refuses what is too long before anything is measured.
base::Status warm_up(engine::RankRuntime& runtime, const BenchOptions& options) {
  const auto prefill = prefill_rate(runtime, options.prompt, 0);
  if (!prefill) return prefill.error();
  DecodeShape shape = options.decode;
  shape.batch = *std::max_element(options.batches.begin(), options.batches.end());
  const auto decode = decode_rate(runtime, shape, 0);
  return decode ? base::ok_status() : base::Status(decode.error());
}

base::Result<BenchReport> measure(const CommandContext& context, engine::RankRuntime& runtime,
                                  const BenchOptions& options) {
  BenchReport report;
  report.setting = setting_of(context, runtime, options);
  report.costs = model_costs(runtime.description(), runtime.weights());
  for (const std::int32_t batch : options.batches)
    report.decode.push_back({.batch = batch, .tokens_per_s = {}, .stages = {}});
  const std::unique_ptr<LimitMeter> meter = make_meter(context, options, report.setting);
  if (const auto status = warm_up(runtime, options); !status) return status.error();
  for (std::int32_t repetition = 1; repetition <= options.repetitions; ++repetition) {
    if (meter != nullptr) measure_limits(*meter, report.limits);
    const auto status = measure_once(runtime, options, static_cast<std::uint64_t>(repetition), report);
    if (!status) return status.error();
    context.log.info("repetition " + std::to_string(repetition) + " of " + std::to_string(options.repetitions));
  }
  return report;
}

int bench(const CommandContext& context, engine::RankRuntime& runtime, const BenchOptions& options,
          OutputFile& json_file) {
  const auto report = measure(context, runtime, options);
  if (!report) return refuse(context, report.error());
  std::cout << to_text(*report) << std::flush;
  const base::Status written = json_file.write(to_json(*report) + "\n");
  return written ? static_cast<int>(kSuccess) : refuse(context, written.error());
}

}  // namespace

CommandFunction define_bench(CLI::App& app) {
  const auto options = std::make_shared<BenchOptions>();
  app.add_option("--prompt", options->prompt, "tokens of the prompt whose prefill is timed")
      ->check(CLI::Range(1, kMaxTokens))
      ->capture_default_str();
  app.add_option("--context", options->decode.context, "tokens before the first that is decoded")
      ->check(CLI::Range(1, kMaxTokens))
      ->capture_default_str();
  app.add_option("--decode", options->decode.num_decoded, "tokens that each sequence decodes")
      ->check(CLI::Range(1, kMaxTokens))
      ->capture_default_str();
  app.add_option("--batch", options->batches, "numbers of sequences that decode in lock-step")
      ->delimiter(',')
      ->check(CLI::Range(1, kMaxBatch - 1))
      ->capture_default_str();
  app.add_option("--repetitions", options->repetitions, "measurements of each figure, of which the median is told")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--no-limits", options->without_limits, "leave out what the machine can do at most");
  app.add_option("--json", options->json_path, "write the figures to a file, as one JSON object")->type_name("FILE");
  add_ladder_options(app, options->ladder);
  return [options](const CommandContext& context) {
    if (options->ladder.wanted) return run_ladder(context, options->ladder, options->json_path);
    OutputFile json_file("--json", options->json_path);
    // Before anything is measured: rank 0 opens the file, all ranks learn whether it could.
    const auto opened = context.is_root() ? json_file.open() : base::ok_status();
    if (const auto agreed = engine::agree(context.world, opened); !agreed) {
      return refuse(context, agreed.error());
    }
    return run_session(context,
                       [&](engine::RankRuntime& runtime) { return bench(context, runtime, *options, json_file); });
  };
}

}  // namespace trireme::launch
