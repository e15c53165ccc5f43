// CRC-32C (Castagnoli, reflected polynomial 0x82F63B78; RFC 3720 appendix B.4): guards control messages. Portable
// tables, about 2 GB/s: enough for messages of kilobytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trireme::parallel {

// The CRC of `bytes`, or of an earlier part followed by `bytes` if that part's CRC is given.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t previous = 0);

}  // namespace trireme::parallel
