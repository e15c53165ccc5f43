#include "parallel/communicator_transport.h"

#include <cstring>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "parallel/crc32c.h"
#include "parallel/error.h"
#include "parallel/payload_checksum.h"

namespace trireme::parallel {

struct CommunicatorTransport::Header {
  std::uint32_t magic = kMagic;
  std::uint32_t epoch = 0;
  std::uint64_t step = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t payload_checksum = 0;
  std::int32_t source = 0, destination = 0;
  std::uint32_t reserved = 0;
  std::uint32_t crc = 0;  // of all before it

  static constexpr std::uint32_t kMagic = 0x54415254;  // "TRAT"
  std::uint32_t computed_crc() const { return crc32c(std::as_bytes(std::span(this, 1)).first(offsetof(Header, crc))); }
};

struct CommunicatorTransport::Transfer {
  std::uint64_t step;
  std::shared_ptr<Header> header;
  std::span<std::byte> buffer;  // of a receive
  MessageLoop::Ticket header_ticket, payload_ticket;
};

CommunicatorTransport::CommunicatorTransport(MessageLoop& loop, PipelineNeighbours neighbours, std::uint32_t epoch)
    : loop_(loop), neighbours_(neighbours), epoch_(epoch) {}

CommunicatorTransport::~CommunicatorTransport() = default;

void CommunicatorTransport::start_receive(std::uint64_t step, std::span<std::byte> buffer) {
  TRIREME_CHECK(neighbours_.previous.has_value()) << "the first stage receives nothing";
  TRIREME_CHECK(receiving_.empty() || receiving_.back().step < step) << step;
  auto header = std::make_shared<Header>();
  const auto bytes = std::as_writable_bytes(std::span(header.get(), 1));
  auto header_ticket = loop_.post_receive(bytes, *neighbours_.previous, Tag::kActivation, header);
  auto payload_ticket = loop_.post_receive(buffer, *neighbours_.previous, Tag::kActivation);
  receiving_.push_back({step, std::move(header), buffer, std::move(header_ticket), std::move(payload_ticket)});
}

void CommunicatorTransport::wait_arrival(std::uint64_t step) {
  TRIREME_CHECK(!receiving_.empty() && receiving_.front().step == step) << step;
  receiving_.front().header_ticket.wait();
}

void CommunicatorTransport::wait_receive(std::uint64_t step, base::Stream) {
  TRIREME_CHECK(!receiving_.empty() && receiving_.front().step == step) << step;
  const Transfer transfer = std::move(receiving_.front());
  receiving_.pop_front();
  transfer.header_ticket.wait();
  verify_header(transfer);
  transfer.payload_ticket.wait();
  verify_payload(transfer);
}

void CommunicatorTransport::start_send(std::uint64_t step, std::span<const std::byte> buffer, base::Stream) {
  TRIREME_CHECK(neighbours_.next.has_value()) << "the last stage sends nothing";
  TRIREME_CHECK(sending_.empty() || sending_.back().step < step) << step;
  auto header = std::make_shared<Header>();
  header->epoch = epoch_;
  header->step = step;
  header->payload_bytes = buffer.size();
  header->payload_checksum = payload_checksum(buffer);
  header->source = loop_.communicator().rank();
  header->destination = *neighbours_.next;
  header->crc = header->computed_crc();
  const auto bytes = std::as_bytes(std::span(header.get(), 1));
  auto header_ticket = loop_.post_send(bytes, *neighbours_.next, Tag::kActivation, header);
  auto payload_ticket = loop_.post_send(buffer, *neighbours_.next, Tag::kActivation);
  sending_.push_back({step, std::move(header), {}, std::move(header_ticket), std::move(payload_ticket)});
}

void CommunicatorTransport::wait_send(std::uint64_t step, base::Stream) {
  TRIREME_CHECK(!sending_.empty() && sending_.front().step == step) << step;
  const Transfer transfer = std::move(sending_.front());
  sending_.pop_front();
  transfer.header_ticket.wait();
  transfer.payload_ticket.wait();
}

void CommunicatorTransport::verify_header(const Transfer& transfer) const {
  const Header& header = *transfer.header;
  const auto check = [&](const char* what, std::uint64_t received, std::uint64_t expected) {
    expect_equal(transfer, what, received, expected);
  };
  check("header size", transfer.header_ticket.received_bytes(), sizeof header);
  check("magic number", header.magic, Header::kMagic);
  check("header CRC-32C", header.crc, header.computed_crc());
  check("epoch", header.epoch, epoch_);
  check("step", header.step, transfer.step);
  check("source", static_cast<std::uint64_t>(header.source), static_cast<std::uint64_t>(*neighbours_.previous));
  check("destination", static_cast<std::uint64_t>(header.destination),
        static_cast<std::uint64_t>(loop_.communicator().rank()));
  check("size", header.payload_bytes, transfer.buffer.size());
}

void CommunicatorTransport::verify_payload(const Transfer& transfer) const {
  expect_equal(transfer, "arrived size", transfer.payload_ticket.received_bytes(), transfer.buffer.size());
  expect_equal(transfer, "checksum", transfer.header->payload_checksum, payload_checksum(transfer.buffer));
}

void CommunicatorTransport::expect_equal(const Transfer& transfer, const char* what, std::uint64_t received,
                                         std::uint64_t expected) const {
  if (received == expected) return;
  const int self = loop_.communicator().rank();
  std::ostringstream text;
  text << "hidden states from rank " << *neighbours_.previous << " to rank " << self << ": " << what
       << " differs: rank " << *neighbours_.previous << " sent " << received << ", rank " << self << " expects "
       << expected << " (epoch " << epoch_ << ", step " << transfer.step << ", " << transfer.buffer.size() << " bytes)";
  throw ParallelError(text.str());
}

}  // namespace trireme::parallel
