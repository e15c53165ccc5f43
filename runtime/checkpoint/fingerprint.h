// Hash by which ranks tell that they see the same model, without reading all of it.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/checkpoint/checkpoint.h"

namespace trireme::checkpoint {

// XXH3 (64 bits) of each file's header and size, and of each tensor's bytes at kSampledRuns evenly spaced places, the
// first and last bytes among them. Names and paths of the files do not count. Tensors in the order given.
std::uint64_t compute_fingerprint(std::span<const FileHeader> headers, std::span<const TensorInfo> tensors);

// XXH3 (64 bits) of all bytes of the files, one after the other: reads them whole.
std::uint64_t compute_content_hash(std::span<const FileHeader> headers);

inline constexpr std::size_t kSampledRuns = 4;
inline constexpr std::size_t kSampledRunBytes = 64;

}  // namespace trireme::checkpoint
