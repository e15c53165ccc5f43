// How --weights spells its values.
#pragma once

#include <string_view>
#include <utility>

#include "runtime/config/config.h"

namespace trireme::config {

inline constexpr std::pair<std::string_view, Weights> kWeightsNames[] = {
    {"auto", Weights::kAuto}, {"f32", Weights::kF32}, {"f16", Weights::kF16}, {"bf16", Weights::kBF16},
    {"int8", Weights::kInt8}, {"q8", Weights::kQ8},   {"q4", Weights::kQ4}};

constexpr std::string_view to_string(Weights weights) {
  for (const auto& [name, value] : kWeightsNames) {
    if (value == weights) return name;
  }
  return "?";
}

}  // namespace trireme::config
