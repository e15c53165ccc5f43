// trireme doctor: what would go wrong with a job on these ranks, before it does. Needs no model.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/commands.h"
#include "launch/doctor/findings.h"
#include "launch/doctor/health_json.h"
#include "launch/exit_codes.h"

namespace trireme::launch {
namespace {

void print_text(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    std::cout << to_string(finding.severity) << "\t" << finding.subject << ": " << finding.text;
    if (!finding.advice.empty()) std::cout << "\n\t-> " << finding.advice;
    std::cout << "\n";
  }
}

void print_json(const JobHealth& health, const std::vector<Finding>& findings) {
  nlohmann::ordered_json object = {{"findings", nlohmann::ordered_json::array()},
                                   {"ranks", nlohmann::ordered_json::array()},
                                   {"pairs", nlohmann::ordered_json::array()}};
  for (const Finding& finding : findings) {
    object["findings"].push_back({{"severity", to_string(finding.severity)},
                                  {"subject", finding.subject},
                                  {"text", finding.text},
                                  {"advice", finding.advice}});
  }
  for (const RankHealth& rank : health.ranks) object["ranks"].push_back(to_json(rank));
  for (const PairHealth& pair : health.pairs) {
    object["pairs"].push_back(
        {{"from", pair.from}, {"to", pair.to}, {"latency_us", pair.latency_us}, {"gb_per_s", pair.gb_per_s}});
  }
  std::cout << object.dump(2) << "\n";
}

int doctor(const CommandContext& context, bool json) {
  const JobHealth health = examine_job(context);
  const std::vector<Finding> findings = diagnose(health);
  if (context.is_root()) {
    if (json)
      print_json(health, findings);
    else
      print_text(findings);
  }
  const bool fails = std::any_of(findings.begin(), findings.end(),
                                 [](const Finding& finding) { return finding.severity == Severity::kError; });
  return fails ? kFailure : kSuccess;
}

}  // namespace

CommandFunction define_doctor(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON object");
  return [json](const CommandContext& context) { return doctor(context, *json); };
}

}  // namespace trireme::launch
