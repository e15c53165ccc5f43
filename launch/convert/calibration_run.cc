#include "launch/convert/calibration_run.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "kernels/cpu_ops.h"
#include "launch/convert/calibration_report.h"
#include "launch/convert/calibration_text.h"
#include "launch/convert/sensitivity_chart.h"
#include "launch/log.h"
#include "launch/text_input.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::launch {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<kernels::Ops> make_ops(const config::Config& config, kernels::ThreadPool& pool) {
  const auto limit = kernels::instruction_set_from_string(config.device.instruction_set);
  std::optional<kernels::InstructionSet> best;
  for (const kernels::InstructionSet set : kernels::available_instruction_sets()) {
    if (!limit || set <= *limit) best = set;
  }
  return best ? kernels::make_cpu_ops(*best, pool) : kernels::make_reference_ops();
}

base::Result<calibration::CalibrationTexts> read_texts(const CalibrationOptions& options,
                                                       const CalibrationInput& input) {
  const auto tokenizer = tokenizer::Tokenizer::from_checkpoint(input.checkpoint);
  if (!tokenizer) return tokenizer.error();
  const auto text = read_text(options.file);
  if (!text) return text.error();
  CalibrationCut cut;
  cut.num_samples = options.num_samples;
  const std::int32_t longest = input.description.max_positions - 1;  // a BOS goes before
  cut.sample_tokens = std::min(cut.sample_tokens, longest);
  cut.window_tokens = std::min(cut.window_tokens, longest);
  return cut_calibration_text(*text, options.file, **tokenizer, cut);
}

std::string summary(const calibration::Calibration& calibration) {
  const double exact = calibration.exact.perplexity();
  const auto percent = [](double value, double base) { return 100.0 * (value / base - 1.0); };
  const double before = calibration.before.perplexity(), after = calibration.after.perplexity();
  std::array<char, 320> text{};
  std::snprintf(text.data(), text.size(),
                "perplexity of %lld held-out tokens: float32 %.3f, before calibration %.3f (%+.2f %%), after %.3f "
                "(%+.2f %%); %zu of %zu matrices kept finer, %+.2f %% bytes",
                static_cast<long long>(calibration.exact.num_tokens), exact, before, percent(before, exact), after,
                percent(after, exact), calibration.kept.matrices.size(), calibration.sensitivities.size(),
                percent(static_cast<double>(calibration.bytes_after), static_cast<double>(calibration.bytes_before)));
  return text.data();
}

// Logs a line per tenth of a step.
class StepLog {
 public:
  StepLog(Log& log, const StopQuestion& stopped) : log_(log), stopped_(stopped) {}
  bool operator()(const std::string& step, double done) {
    constexpr int kSteps = 10;
    const int tenth = static_cast<int>(kSteps * done);
    if (step != step_ || tenth != tenth_) log_.info(step + ": " + std::to_string(100 / kSteps * tenth) + " %");
    step_ = step;
    tenth_ = tenth;
    return !stopped_();
  }

 private:
  Log& log_;
  const StopQuestion& stopped_;
  std::string step_;
  int tenth_ = 0;
};

base::Status write_text(const fs::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  return stream ? base::ok_status() : base::Status(base::invalid_argument(path.string() + ": cannot be written"));
}

base::Status write_report(const CalibrationOptions& options, const calibration::Calibration& calibration,
                          const ReportFacts& facts) {
  if (options.report.empty()) return base::ok_status();
  const fs::path path = options.report;
  if (auto status = write_text(path, calibration_report(calibration, facts)); !status) return status;
  return write_text(fs::path(path).replace_extension(".svg"), sensitivity_chart(calibration));
}

}  // namespace

base::Result<std::set<std::string>> run_calibration(const CalibrationOptions& options, const CalibrationInput& input,
                                                    const CommandContext& context, const StopQuestion& stopped) {
  const auto begin = std::chrono::steady_clock::now();
  const auto texts = read_texts(options, input);
  if (!texts) return texts.error();
  context.log.info("calibrating with " + std::to_string(texts->samples.size()) + " samples of " + options.file +
                   "; verifying with " + std::to_string(texts->evaluation.size()) + " other windows");
  const auto ops = make_ops(context.config.config, input.pool);
  StepLog step_log(context.log, stopped);
  const auto calibration =
      calibration::calibrate({input.checkpoint,
                              input.description,
                              input.choose,
                              {*ops, input.pool},
                              *texts,
                              options.keep_sensitive,
                              options.tolerance},
                             [&](const std::string& step, double done) { return step_log(step, done); });
  if (!calibration) return calibration.error();
  context.log.info(summary(*calibration));
  ReportFacts facts;
  facts.text = options.file;
  facts.num_samples = texts->samples.size();
  facts.keep_sensitive = options.keep_sensitive;
  facts.tolerance = options.tolerance;
  facts.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (auto status = write_report(options, *calibration, facts); !status) return status.error();
  return calibration->kept.matrices;
}

}  // namespace trireme::launch
