// Identifiers that the scheduler hands out. Tokens are plain integers: kernels index tables with them.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/strong_id.h"

namespace trireme::scheduler {

using TokenId = std::int32_t;
using RequestId = base::StrongId<struct RequestTag, std::uint64_t>;
using SequenceId = base::StrongId<struct SequenceTag, std::uint64_t>;  // never reused in a run
using BlockId = base::StrongId<struct BlockTag, std::int32_t>;         // within one layer group of one replica
inline constexpr BlockId kNoBlock{-1};                                 // a place in a block table that holds nothing
using StepNumber = std::uint64_t;                                      // of one replica, from 0, without gaps

using TimePoint = std::chrono::steady_clock::time_point;  // always passed in; the scheduler reads no clock

}  // namespace trireme::scheduler
