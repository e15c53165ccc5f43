#include "parallel/communicator_transport.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "parallel/crc32c.h"
#include "parallel/error.h"
#include "parallel/payload_checksum.h"

namespace trireme::parallel {

struct CommunicatorTransport::Trailer {
  std::uint32_t magic = kMagic;
  std::uint32_t epoch = 0;
  std::uint64_t step = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;
  std::int32_t source = 0, destination = 0;
  std::uint32_t reserved = 0;
  std::uint32_t crc = 0;  // of all before it

  static constexpr std::uint32_t kMagic = 0x54415254;  // "TRAT"
  std::uint32_t computed_crc() const { return crc32c(std::as_bytes(std::span(this, 1)).first(offsetof(Trailer, crc))); }
};

namespace {

// Calls body(part) for the parts of a payload, in order; at least once.
template <typename Body>
void for_each_part(std::span<std::byte> payload, const Body& body) {
  constexpr std::size_t kPartBytes = CommunicatorTransport::kPartBytes;
  static_assert(kPartBytes % PayloadChecksum::kBlockBytes == 0);
  do {
    const std::size_t size = std::min(kPartBytes, payload.size());
    body(payload.first(size));
    payload = payload.subspan(size);
  } while (!payload.empty());
}

bool is_last(std::span<std::byte> part, std::span<std::byte> payload) {
  return part.data() + part.size() == payload.data() + payload.size();
}

// What goes with a part in one message: behind the last part the trailer.
std::span<std::byte> message_of(std::span<std::byte> part, std::span<std::byte> payload) {
  return {part.data(), part.size() + (is_last(part, payload) ? ActivationTransport::kTrailerBytes : 0)};
}

}  // namespace

CommunicatorTransport::CommunicatorTransport(MessageLoop& loop, PipelineNeighbours neighbours, std::uint32_t epoch)
    : loop_(loop), neighbours_(neighbours), epoch_(epoch) {
  static_assert(sizeof(Trailer) == kTrailerBytes);
}

CommunicatorTransport::~CommunicatorTransport() = default;

CommunicatorTransport::Transfer& CommunicatorTransport::add(std::deque<Transfer>& transfers, std::uint64_t step,
                                                            std::span<std::byte> buffer) {
  TRIREME_CHECK(transfers.empty() || transfers.back().step < step) << step;
  TRIREME_CHECK(buffer.size() >= kTrailerBytes) << buffer.size();
  if (free_.empty()) free_.emplace_back();
  transfers.push_back(std::move(free_.back()));
  free_.pop_back();
  transfers.back().step = step;
  transfers.back().buffer = buffer;
  return transfers.back();
}

CommunicatorTransport::Transfer CommunicatorTransport::take(std::deque<Transfer>& transfers, std::uint64_t step) {
  TRIREME_CHECK(!transfers.empty() && transfers.front().step == step) << step;
  Transfer transfer = std::move(transfers.front());
  transfers.pop_front();
  return transfer;
}

void CommunicatorTransport::recycle(Transfer transfer) {
  transfer.parts.clear();
  free_.push_back(std::move(transfer));
}

void CommunicatorTransport::start_receive(std::uint64_t step, std::span<std::byte> buffer) {
  TRIREME_CHECK(neighbours_.previous.has_value()) << "the first stage receives nothing";
  Transfer& transfer = add(receiving_, step, buffer);
  const std::span payload = transfer.payload();
  for_each_part(payload, [&](std::span<std::byte> part) {
    transfer.parts.push_back(loop_.post_receive(message_of(part, payload), *neighbours_.previous, Tag::kActivation));
  });
}

void CommunicatorTransport::wait_arrival(std::uint64_t step) {
  TRIREME_CHECK(!receiving_.empty() && receiving_.front().step == step) << step;
  receiving_.front().parts.front().wait();
}

void CommunicatorTransport::wait_receive(std::uint64_t step, base::Stream) {
  Transfer transfer = take(receiving_, step);
  const std::span payload = transfer.payload();
  PayloadChecksum checksum;
  std::size_t next = 0, received_bytes = 0;
  for_each_part(payload, [&](std::span<std::byte> part) {
    const MessageLoop::Ticket& ticket = transfer.parts[next++];
    ticket.wait();
    received_bytes += ticket.received_bytes();
    checksum.add(part);
  });
  verify(transfer, received_bytes, checksum.value());
  recycle(std::move(transfer));
}

void CommunicatorTransport::start_send(std::uint64_t step, std::span<std::byte> buffer, base::Stream) {
  TRIREME_CHECK(neighbours_.next.has_value()) << "the last stage sends nothing";
  Transfer& transfer = add(sending_, step, buffer);
  const std::span payload = transfer.payload();
  for_each_part(payload, [&](std::span<std::byte> part) {
    // While the parts before the last are under way.
    if (is_last(part, payload)) write_trailer(transfer, payload_checksum(payload));
    transfer.parts.push_back(loop_.post_send(message_of(part, payload), *neighbours_.next, Tag::kActivation));
  });
}

void CommunicatorTransport::write_trailer(const Transfer& transfer, std::uint64_t checksum) const {
  Trailer trailer;
  trailer.epoch = epoch_;
  trailer.step = transfer.step;
  trailer.payload_bytes = transfer.payload().size();
  trailer.payload_checksum = checksum;
  trailer.source = loop_.communicator().rank();
  trailer.destination = *neighbours_.next;
  trailer.crc = trailer.computed_crc();
  std::memcpy(transfer.buffer.last(kTrailerBytes).data(), &trailer, kTrailerBytes);
}

void CommunicatorTransport::wait_send(std::uint64_t step, base::Stream) {
  Transfer transfer = take(sending_, step);
  for (const MessageLoop::Ticket& part : transfer.parts) part.wait();
  recycle(std::move(transfer));
}

void CommunicatorTransport::verify(const Transfer& transfer, std::size_t received_bytes, std::uint64_t checksum) const {
  const auto check = [&](const char* what, std::uint64_t received, std::uint64_t expected) {
    expect_equal(transfer, what, received, expected);
  };
  if (received_bytes < kTrailerBytes) check("size with trailer", received_bytes, transfer.buffer.size());
  Trailer trailer;  // the end of what has come, which may be less than what was expected
  std::memcpy(&trailer, transfer.buffer.data() + received_bytes - kTrailerBytes, kTrailerBytes);
  check("magic number", trailer.magic, Trailer::kMagic);
  check("trailer CRC-32C", trailer.crc, trailer.computed_crc());
  check("epoch", trailer.epoch, epoch_);
  check("step", trailer.step, transfer.step);
  check("source", static_cast<std::uint64_t>(trailer.source), static_cast<std::uint64_t>(*neighbours_.previous));
  check("destination", static_cast<std::uint64_t>(trailer.destination),
        static_cast<std::uint64_t>(loop_.communicator().rank()));
  check("size", trailer.payload_bytes, transfer.payload().size());
  check("size with trailer", received_bytes, transfer.buffer.size());
  check("checksum", trailer.payload_checksum, checksum);
}

void CommunicatorTransport::expect_equal(const Transfer& transfer, const char* what, std::uint64_t received,
                                         std::uint64_t expected) const {
  if (received == expected) return;
  const int self = loop_.communicator().rank();
  std::ostringstream text;
  text << "hidden states from rank " << *neighbours_.previous << " to rank " << self << ": " << what
       << " differs: rank " << *neighbours_.previous << " sent " << received << ", rank " << self << " expects "
       << expected << " (epoch " << epoch_ << ", step " << transfer.step << ", " << transfer.payload().size()
       << " bytes)";
  throw ParallelError(text.str());
}

}  // namespace trireme::parallel
