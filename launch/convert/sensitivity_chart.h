// The report of a calibration, for people: sensitivity by layer as an SVG picture.
#pragma once

#include <string>

#include "runtime/calibration/calibrate.h"

namespace trireme::launch {

// A pair of bars per layer, attention and feed-forward, and one for the head: the divergence of the next token's
// distribution that their matrices cause. What is kept in a finer format is drawn hollow.
std::string sensitivity_chart(const calibration::Calibration& calibration);

}  // namespace trireme::launch
