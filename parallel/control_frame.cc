#include "parallel/control_frame.h"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "parallel/crc32c.h"
#include "parallel/error.h"

namespace trireme::parallel {
namespace {

constexpr std::uint32_t kMagic = 0x4C435254;  // "TRCL"

std::uint32_t frame_crc(const ControlFrameHeader& header, std::span<const std::byte> payload) {
  const auto bytes = std::as_bytes(std::span(&header, 1)).first(offsetof(ControlFrameHeader, crc));
  return crc32c(payload, crc32c(bytes));
}

// Throws with both sides' view; `what` differs.
[[noreturn]] void throw_mismatch(const ControlEndpoints& endpoints, const char* what, std::uint64_t received,
                                 std::uint64_t expected) {
  std::ostringstream text;
  text << tag_name(endpoints.tag) << " message from rank " << endpoints.source << " to rank " << endpoints.destination
       << ": " << what << " differs: rank " << endpoints.source << " sent " << received << ", rank "
       << endpoints.destination << " expects " << expected;
  throw ParallelError(text.str());
}

}  // namespace

std::size_t write_frame(const ControlEndpoints& endpoints, const ControlPosition& position,
                        std::span<const std::byte> message, std::span<std::byte> frame) {
  const std::span payload =
      message.subspan(position.offset, std::min<std::size_t>(kControlPayloadBytes, message.size() - position.offset));
  ControlFrameHeader header{kMagic,
                            endpoints.epoch,
                            position.sequence,
                            message.size(),
                            position.offset,
                            static_cast<std::uint32_t>(payload.size()),
                            endpoints.source,
                            endpoints.destination,
                            static_cast<std::int32_t>(endpoints.tag),
                            0,
                            0};
  header.crc = frame_crc(header, payload);
  std::memcpy(frame.data(), &header, sizeof header);
  if (!payload.empty()) std::memcpy(frame.data() + sizeof header, payload.data(), payload.size());
  return payload.size();
}

ControlFrameHeader verify_frame(const ControlEndpoints& endpoints, const ControlPosition& expected,
                                std::span<const std::byte> frame) {
  const auto check = [&](const char* what, std::uint64_t received, std::uint64_t wanted) {
    if (received != wanted) throw_mismatch(endpoints, what, received, wanted);
  };
  ControlFrameHeader header;
  if (frame.size() < sizeof header) throw_mismatch(endpoints, "frame size", frame.size(), sizeof header);
  std::memcpy(&header, frame.data(), sizeof header);
  const std::span payload = frame.subspan(sizeof header);
  check("magic number", header.magic, kMagic);
  check("payload size", header.payload_bytes, payload.size());
  check("CRC-32C", header.crc, frame_crc(header, payload));
  check("epoch", header.epoch, endpoints.epoch);
  check("source", static_cast<std::uint64_t>(header.source), static_cast<std::uint64_t>(endpoints.source));
  check("destination", static_cast<std::uint64_t>(header.destination),
        static_cast<std::uint64_t>(endpoints.destination));
  check("tag", static_cast<std::uint64_t>(header.tag), static_cast<std::uint64_t>(endpoints.tag));
  check("frame number", header.sequence, expected.sequence);
  check("offset in the message", header.offset, expected.offset);
  if (expected.offset > 0) check("message size", header.message_bytes, expected.message_bytes);
  if (header.message_bytes > kMaxControlMessageBytes) {
    throw_mismatch(endpoints, "message size limit", header.message_bytes, kMaxControlMessageBytes);
  }
  check("payload size of the frame", payload.size(),
        std::min<std::uint64_t>(kControlPayloadBytes, header.message_bytes - header.offset));
  return header;
}

}  // namespace trireme::parallel
