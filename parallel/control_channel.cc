#include "parallel/control_channel.h"

#include <deque>
#include <utility>

#include "base/check.h"
#include "parallel/control_frame.h"

namespace trireme::parallel {
namespace {

// Shared with the loop, which may still be using it when its channel is gone.
using FrameBuffer = std::shared_ptr<std::vector<std::byte>>;

struct Frame {
  FrameBuffer buffer;
  MessageLoop::Ticket ticket;
};

FrameBuffer make_buffer() {
  return std::make_shared<std::vector<std::byte>>(kControlFrameBytes);
}

}  // namespace

struct ControlSender::Impl {
  MessageLoop& loop;
  ControlEndpoints endpoints;
  std::uint64_t next_sequence = 0;
  std::deque<Frame> sending;
  std::vector<FrameBuffer> free_buffers;

  void recycle() {
    constexpr std::size_t kMaxFreeBuffers = 16;
    while (!sending.empty() && sending.front().ticket.done()) {
      if (free_buffers.size() < kMaxFreeBuffers) free_buffers.push_back(std::move(sending.front().buffer));
      sending.pop_front();
    }
  }

  FrameBuffer take_buffer() {
    if (free_buffers.empty()) return make_buffer();
    FrameBuffer buffer = std::move(free_buffers.back());
    free_buffers.pop_back();
    return buffer;
  }
};

ControlSender::ControlSender(MessageLoop& loop, int destination, Tag tag, std::uint32_t epoch)
    : impl_(new Impl{loop, {loop.communicator().rank(), destination, tag, epoch}, 0, {}, {}}) {}

ControlSender::~ControlSender() = default;

void ControlSender::send(std::span<const std::byte> message) {
  TRIREME_CHECK(message.size() <= kMaxControlMessageBytes) << message.size();
  impl_->recycle();
  std::size_t offset = 0;
  do {
    FrameBuffer buffer = impl_->take_buffer();
    const ControlPosition position{impl_->next_sequence++, message.size(), offset};
    const std::size_t payload_bytes = write_frame(impl_->endpoints, position, message, *buffer);
    const auto frame = std::span(*buffer).first(sizeof(ControlFrameHeader) + payload_bytes);
    auto ticket = impl_->loop.post_send(frame, impl_->endpoints.destination, impl_->endpoints.tag, buffer);
    impl_->sending.push_back({std::move(buffer), std::move(ticket)});
    offset += payload_bytes;
  } while (offset < message.size());
}

bool ControlSender::all_sent() const {
  impl_->recycle();
  return impl_->sending.empty();
}

struct ControlReceiver::Impl {
  MessageLoop& loop;
  ControlEndpoints endpoints;
  ControlPosition expected;
  std::deque<Frame> posted;
  std::vector<std::byte> message;  // so far

  void post(FrameBuffer buffer) {
    auto ticket = loop.post_receive(*buffer, endpoints.source, endpoints.tag, buffer);
    posted.push_back({std::move(buffer), std::move(ticket)});
  }

  // Takes the first frame, which has arrived, and posts its buffer again; true if it completes the message.
  bool take_frame() {
    Frame frame = std::move(posted.front());
    posted.pop_front();
    const std::span bytes = std::span<const std::byte>(*frame.buffer).first(frame.ticket.received_bytes());
    const ControlFrameHeader header = verify_frame(endpoints, expected, bytes);
    const std::span payload = bytes.subspan(sizeof header);
    message.reserve(header.message_bytes);
    message.insert(message.end(), payload.begin(), payload.end());
    post(std::move(frame.buffer));

    const bool complete = message.size() == header.message_bytes;
    expected = {header.sequence + 1, header.message_bytes, complete ? 0 : message.size()};
    return complete;
  }
};

ControlReceiver::ControlReceiver(MessageLoop& loop, int source, Tag tag, std::uint32_t epoch, int depth)
    : impl_(new Impl{loop, {source, loop.communicator().rank(), tag, epoch}, {}, {}, {}}) {
  TRIREME_CHECK(depth >= 1) << depth;
  for (int i = 0; i < depth; ++i) impl_->post(make_buffer());
}

ControlReceiver::~ControlReceiver() = default;

std::optional<std::vector<std::byte>> ControlReceiver::try_receive() {
  while (impl_->posted.front().ticket.done()) {
    if (impl_->take_frame()) return std::exchange(impl_->message, {});
  }
  return std::nullopt;
}

std::vector<std::byte> ControlReceiver::receive() {
  do {
    impl_->posted.front().ticket.wait();
  } while (!impl_->take_frame());
  return std::exchange(impl_->message, {});
}

}  // namespace trireme::parallel
