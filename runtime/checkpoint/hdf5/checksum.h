// Checksums of what a converted file holds, in chunks, so that several threads can work on one tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trireme::checkpoint {

inline constexpr std::size_t kChecksumChunkBytes = std::size_t{4} << 20;

constexpr std::size_t num_checksum_chunks(std::size_t bytes) {
  return (bytes + kChecksumChunkBytes - 1) / kChecksumChunkBytes;
}

// XXH3 (64 bits) of at most kChecksumChunkBytes.
std::uint64_t checksum_of_chunk(std::span<const std::byte> chunk);
// Of the whole: XXH3 of its chunks' checksums in order, each as 8 bytes, little-endian.
std::uint64_t combine_checksums(std::span<const std::uint64_t> chunks);

// Both in one.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace trireme::checkpoint
