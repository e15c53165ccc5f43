// The ladder as an SVG picture.
#pragma once

#include <string>

#include "launch/bench/ladder/ladder_report.h"

namespace trireme::launch {

// A line per rung, with bars for its throughput, P99 latency and peak memory of a rank.
std::string ladder_chart(const LadderReport& report);

}  // namespace trireme::launch
