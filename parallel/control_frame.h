// ControlFrame: header and check of one frame of a control message. Used by control_channel only. Both sides have the
// same byte order (the magic number tells otherwise).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "parallel/communicator.h"
#include "parallel/control_channel.h"

namespace trireme::parallel {

// Fixed layout of 56 bytes without padding; the payload follows.
struct ControlFrameHeader {
  std::uint32_t magic;
  std::uint32_t epoch;
  std::uint64_t sequence;       // number of the frame on its channel
  std::uint64_t message_bytes;  // of the whole message
  std::uint64_t offset;         // of this frame's payload in the message
  std::uint32_t payload_bytes;
  std::int32_t source, destination;
  std::int32_t tag;
  std::uint32_t reserved;
  std::uint32_t crc;  // CRC-32C of the header up to here, then of the payload
};
static_assert(sizeof(ControlFrameHeader) == 56);
inline constexpr std::size_t kControlPayloadBytes = kControlFrameBytes - sizeof(ControlFrameHeader);

struct ControlEndpoints {
  int source, destination;
  Tag tag;
  std::uint32_t epoch;
};

// The next frame as one side knows it: what it sends, or must receive.
struct ControlPosition {
  std::uint64_t sequence = 0;
  std::uint64_t message_bytes = 0;  // not yet known by a receiver at offset 0
  std::uint64_t offset = 0;
};

// Writes header and payload (the message from the offset on, as much as fits) to `frame`, [kControlFrameBytes]; returns
// the payload's size.
std::size_t write_frame(const ControlEndpoints& endpoints, const ControlPosition& position,
                        std::span<const std::byte> message, std::span<std::byte> frame);

// The header of a frame that was received, checked against what is expected; throws ParallelError naming both sides.
ControlFrameHeader verify_frame(const ControlEndpoints& endpoints, const ControlPosition& expected,
                                std::span<const std::byte> frame);

}  // namespace trireme::parallel
