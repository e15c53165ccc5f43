// What must be the same to the last bit in two runs of a request: tokens and all log-probabilities.
#pragma once

#include <string>
#include <vector>

#include "runtime/engine/generation.h"

namespace trireme::test {

// A readable text, equal exactly when the outputs are bit-identical.
std::string fingerprint(const engine::Generation& generation);
std::vector<std::string> fingerprints(const std::vector<std::vector<engine::Generation>>& outputs);

}  // namespace trireme::test
