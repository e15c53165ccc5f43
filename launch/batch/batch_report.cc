#include "launch/batch/batch_report.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "launch/batch/progress.h"

namespace trireme::launch {
namespace {

using nlohmann::ordered_json;

constexpr double kMebibyte = 1024.0 * 1024.0;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

double per_second(std::uint64_t count, double seconds) {
  return seconds > 0.0 ? static_cast<double>(count) / seconds : 0.0;
}

std::string times_text(const char* name, const TimeHistogram& times) {
  return format("\n%-22s p50 %9.1f ms  p90 %9.1f ms  p99 %9.1f ms", name, times.percentile(50) * 1e3,
                times.percentile(90) * 1e3, times.percentile(99) * 1e3);
}

std::string rank_text(const RankUse& rank) {
  std::string line = format("\nrank %d (replica %d, stage %d): ", rank.rank, rank.replica, rank.stage);
  if (rank.total_s() > 0.0) {
    line += format("busy %.2f s, wait %.2f s, receive %.2f s, send %.2f s, bubble %.0f %%; ", rank.busy_s, rank.wait_s,
                   rank.receive_s, rank.send_s, 100.0 * rank.bubble());
  }
  return line + format("peak memory %.0f MiB private, %.0f MiB resident",
                       static_cast<double>(rank.memory.private_bytes) / kMebibyte,
                       static_cast<double>(rank.memory.resident_bytes) / kMebibyte);
}

void add_times(const std::string& name, const TimeHistogram& times, ordered_json& object) {
  object["mean_" + name + "_ms"] = times.mean() * 1e3;
  object["median_" + name + "_ms"] = times.percentile(50) * 1e3;
  object["p90_" + name + "_ms"] = times.percentile(90) * 1e3;
  object["p99_" + name + "_ms"] = times.percentile(99) * 1e3;
}

ordered_json rank_json(const RankUse& rank) {
  return {{"rank", rank.rank},
          {"host", rank.host},
          {"replica", rank.replica},
          {"stage", rank.stage},
          {"busy_s", rank.busy_s},
          {"wait_s", rank.wait_s},
          {"receive_s", rank.receive_s},
          {"send_s", rank.send_s},
          {"bubble", rank.bubble()},
          {"peak_private_bytes", rank.memory.private_bytes},
          {"peak_resident_bytes", rank.memory.resident_bytes}};
}

}  // namespace

std::string report_text(const BatchTotals& totals, const std::vector<RankUse>& ranks) {
  std::string text = std::to_string(totals.num_completed) + " requests in " +
                     (totals.seconds < 60.0 ? format("%.2f s", totals.seconds) : time_text(totals.seconds));
  if (totals.num_errors > 0) text += ", " + std::to_string(totals.num_errors) + " error rows";
  if (totals.num_done_before > 0) text += ", " + std::to_string(totals.num_done_before) + " lines done before";
  if (totals.num_unfinished() > 0) text += ", " + std::to_string(totals.num_unfinished()) + " lines left";
  text += format("\n%.2f requests/s, %.1f output tokens/s, %.1f tokens/s with the prompts'",
                 per_second(totals.num_completed, totals.seconds), per_second(totals.output_tokens, totals.seconds),
                 per_second(totals.output_tokens + totals.prompt_tokens, totals.seconds));
  text += times_text("time to first token", totals.first_token);
  text += times_text("latency", totals.latency);
  text += times_text("time per output token", totals.per_token);
  for (const RankUse& rank : ranks) text += rank_text(rank);
  return text;
}

std::string report_json(const BatchTotals& totals, const std::vector<RankUse>& ranks) {
  ordered_json object = {
      {"lines", totals.num_lines},
      {"completed", totals.num_completed},
      {"failed", totals.num_errors},
      {"completed_before", totals.num_done_before - std::min(totals.num_errors_before, totals.num_done_before)},
      {"failed_before", totals.num_errors_before},
      {"unfinished", totals.num_unfinished()},
      {"duration_s", totals.seconds},
      {"total_input_tokens", totals.prompt_tokens},
      {"total_output_tokens", totals.output_tokens},
      {"request_throughput", per_second(totals.num_completed, totals.seconds)},
      {"output_throughput", per_second(totals.output_tokens, totals.seconds)},
      {"total_token_throughput", per_second(totals.output_tokens + totals.prompt_tokens, totals.seconds)}};
  add_times("ttft", totals.first_token, object);
  add_times("e2el", totals.latency, object);
  add_times("tpot", totals.per_token, object);
  object["ranks"] = ordered_json::array();
  for (const RankUse& rank : ranks) object["ranks"].push_back(rank_json(rank));
  return object.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace trireme::launch
