// trireme convert: a model's weights, packed once, with all else that belongs to it in one HDF5 file. Rank 0 alone
// works.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>

#include "launch/commands.h"
#include "launch/convert/calibration_run.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/rank_cores.h"
#include "launch/refusal.h"
#include "launch/stop_signals.h"
#include "launch/version.h"
#include "runtime/checkpoint/fingerprint.h"
#include "runtime/config/weights_names.h"
#include "runtime/model/architecture.h"
#include "runtime/model/convert_model.h"

namespace trireme::launch {
namespace {

namespace fs = std::filesystem;

struct ConvertOptions {
  std::string source, target;
  bool force = false;
  CalibrationOptions calibration;
};

// Logs a line per tenth of the work, and asks for signals.
class Observer {
 public:
  Observer(Log& log, StopSignals& signals) : log_(log), signals_(signals) {}

  bool operator()(const model::ConvertProgress& progress) {
    constexpr std::int64_t kSteps = 10;
    const std::int64_t step = kSteps * progress.done_bytes / progress.total_bytes;
    if (step != step_) {
      log_.info(std::to_string(100 / kSteps * step) + " % (" + std::to_string(progress.done_bytes >> 20) + " of " +
                std::to_string(progress.total_bytes >> 20) + " MiB packed), last " + std::string(progress.matrix));
    }
    step_ = step;
    return !poll();
  }
  bool poll() { return stopped_ |= signals_.poll().has_value(); }
  bool stopped() const { return stopped_; }

 private:
  Log& log_;
  StopSignals& signals_;
  std::int64_t step_ = 0;
  bool stopped_ = false;
};

// Before anything is read or written.
base::Status check_target(const ConvertOptions& options) {
  std::error_code error;
  const fs::path target(options.target), parent = target.parent_path();
  if (fs::is_directory(target, error)) return base::invalid_argument(options.target + ": is a folder");
  if (fs::exists(target, error) && !options.force) {
    return base::invalid_argument(options.target + ": exists; --force replaces it");
  }
  const fs::path report = options.calibration.report;
  for (const fs::path& folder : {parent, report.parent_path()}) {
    if (!folder.empty() && !fs::is_directory(folder, error)) {
      return base::not_found(folder.string() + ": no such folder");
    }
  }
  return base::ok_status();
}

checkpoint::Provenance provenance_of(const checkpoint::Checkpoint& checkpoint, const ConvertOptions& options,
                                     config::Weights weights) {
  checkpoint::Provenance provenance;
  provenance.weights = config::to_string(weights);
  provenance.program_version = version();
  provenance.command_line =
      "trireme convert " + options.source + " " + options.target + " --weights " + provenance.weights;
  const CalibrationOptions& calibration = options.calibration;
  if (!calibration.file.empty()) {
    std::ostringstream text;
    text << " --calibration " << calibration.file << " --samples " << calibration.num_samples << " --keep-sensitive "
         << calibration.keep_sensitive << " --tolerance " << calibration.tolerance;
    provenance.command_line += text.str();
  }
  provenance.source = model::source_name(checkpoint);
  for (const checkpoint::FileHeader& header : checkpoint.headers()) provenance.source_bytes += header.file_bytes;
  provenance.source_hash = checkpoint::compute_content_hash(checkpoint.headers());
  return provenance;
}

base::Status convert(const ConvertOptions& options, const CommandContext& context, Observer& observer) {
  if (auto status = check_target(options); !status) return status;
  const auto opened = checkpoint::Checkpoint::open(options.source);
  if (!opened) return opened.error();
  const checkpoint::Checkpoint& source = **opened;
  if (source.conversion() != nullptr) {
    return base::invalid_argument(options.source + ": is converted already: convert what it was made of");
  }
  const auto description = model::describe_model(source);
  if (!description) return description.error();
  const config::Weights weights = context.config.config.model.weights;
  const auto asked = model::make_format_chooser(source, *description, weights);
  const device::RankCores share = cores_of_this_rank(context);
  kernels::ThreadPool pool(static_cast<int>(share.cores.size()));
  std::set<std::string> kept;
  if (!options.calibration.file.empty()) {
    auto calibrated = run_calibration(options.calibration, {source, *description, asked, pool}, context,
                                      [&] { return observer.poll(); });
    if (!calibrated) return calibrated.error();
    kept = std::move(*calibrated);
  }
  const auto choose = calibration::with_kept(asked, std::move(kept));
  const auto matrices = model::all_matrices(model::plan_weights(*description, choose), *description);
  context.log.info("converting " + options.source + ": " + model::describe_formats(matrices));
  checkpoint::Hdf5Writer writer(options.target, provenance_of(source, options, weights), source.format());
  return model::convert_model(source, *description, choose, pool, writer,
                              [&](const model::ConvertProgress& progress) { return observer(progress); });
}

int run_convert(const ConvertOptions& options, const CommandContext& context) {
  StopSignals signals;
  if (!context.is_root()) return kSuccess;
  Observer observer(context.log, signals);
  const base::Status status = convert(options, context, observer);
  if (observer.stopped()) {
    context.log.error("stopped by a signal; nothing was written");
    return kUnfinished;
  }
  if (!status) return refuse(context, status.error());
  context.log.info("wrote " + options.target + ", " + std::to_string(fs::file_size(options.target)) +
                   " bytes, read back and verified");
  return kSuccess;
}

}  // namespace

CommandFunction define_convert(CLI::App& app) {
  const auto options = std::make_shared<ConvertOptions>();
  app.add_option("source", options->source, "GGUF file or Hugging Face directory")->type_name("MODEL")->required();
  app.add_option("target", options->target, "HDF5 file to write")->type_name("OUT.h5")->required();
  app.add_flag("--force", options->force, "replace the file if it exists");
  CalibrationOptions& calibration = options->calibration;
  CLI::Option* text = app.add_option("--calibration", calibration.file,
                                     "text, or JSON lines with \"text\", to find out which matrices are sensitive");
  app.add_option("--samples", calibration.num_samples, "samples of 128 tokens to calibrate with, at most")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(text)
      ->capture_default_str();
  app.add_option("--keep-sensitive", calibration.keep_sensitive,
                 "share of more bytes, at most, for keeping sensitive matrices in a finer format")
      ->check(CLI::Range(0.0, 1.0))
      ->needs(text)
      ->capture_default_str();
  app.add_option("--tolerance", calibration.tolerance,
                 "keep no more once the others are estimated to cost only this, in nats per token")
      ->check(CLI::Range(0.0, 100.0))
      ->needs(text)
      ->capture_default_str();
  app.add_option("--report", calibration.report, "JSON file to write the outcome to, with a chart beside it (.svg)")
      ->needs(text);
  return [options](const CommandContext& context) { return run_convert(*options, context); };
}

}  // namespace trireme::launch
