// trireme convert: a model's weights, packed once, with all else that belongs to it in one HDF5 file. Rank 0 alone
// works.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/rank_cores.h"
#include "launch/refusal.h"
#include "launch/stop_signals.h"
#include "launch/version.h"
#include "runtime/checkpoint/fingerprint.h"
#include "runtime/model/architecture.h"
#include "runtime/model/convert_model.h"

namespace trireme::launch {
namespace {

namespace fs = std::filesystem;

struct ConvertOptions {
  std::string source, target;
  bool force = false;
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
    stopped_ |= signals_.poll().has_value();
    return !stopped_;
  }
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
  if (!parent.empty() && !fs::is_directory(parent, error)) {
    return base::not_found(parent.string() + ": no such folder");
  }
  return base::ok_status();
}

checkpoint::Provenance provenance_of(const checkpoint::Checkpoint& checkpoint, const ConvertOptions& options,
                                     config::Weights weights) {
  checkpoint::Provenance provenance;
  provenance.weights = model::option_name(weights);
  provenance.program_version = version();
  provenance.command_line =
      "trireme convert " + options.source + " " + options.target + " --weights " + provenance.weights;
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
  const auto choose = model::make_format_chooser(source, *description, weights);
  const auto matrices = model::all_matrices(model::plan_weights(*description, choose), *description);
  context.log.info("converting " + options.source + ": " + model::describe_formats(matrices));
  const device::RankCores share = cores_of_this_rank(context);
  kernels::ThreadPool pool(static_cast<int>(share.cores.size()));
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
  return [options](const CommandContext& context) { return run_convert(*options, context); };
}

}  // namespace trireme::launch
