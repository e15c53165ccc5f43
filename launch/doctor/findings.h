// Findings: what would go wrong, or slowly, with a job of this health. Pure.
#pragma once

#include <string>
#include <vector>

#include "launch/doctor/facts.h"

namespace trireme::launch {

// kError: a run would fail. kWarning: it would be slow, or use less than there is.
enum class Severity { kFine, kWarning, kError };

struct Finding {
  Severity severity = Severity::kFine;
  std::string subject;  // "memory"
  std::string text;     // what is so
  std::string advice;   // what to change; empty where nothing is to be
};

std::vector<Finding> diagnose(const JobHealth& health);

std::string_view to_string(Severity severity);  // "ok", "warning", "error"

}  // namespace trireme::launch
