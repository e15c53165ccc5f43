#include "parallel/heartbeat_protocol.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace trireme::parallel {
namespace {

template <std::size_t N>
void copy_text(std::array<char, N>& target, const std::string& text) {
  std::memcpy(target.data(), text.data(), std::min(text.size(), N - 1));
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& text) {
  return {text.data(), ::strnlen(text.data(), N)};
}

}  // namespace

HeartbeatMessage make_failure(const RankFailure& failure) {
  HeartbeatMessage message;
  message.kind = HeartbeatKind::kFailure;
  message.rank = failure.rank;
  copy_text(message.host, failure.host);
  copy_text(message.cause, failure.cause);
  return message;
}

RankFailure failure_of(const HeartbeatMessage& message) {
  return {message.rank, text_of(message.host), text_of(message.cause)};
}

void HeartbeatConnection::send(const HeartbeatMessage& message) {
  const auto bytes = std::as_bytes(std::span(&message, 1));
  if (unsent_.size() < kMaxQueued * bytes.size()) unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
  flush();
}

// A connection that takes nothing more is noticed by receive, which first gives what the peer sent before it ended.
void HeartbeatConnection::flush() {
  if (unsent_.empty() || !socket_.is_open()) return;
  const auto sent = socket_.send(unsent_);
  unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent.bytes));
  if (sent.outcome == TcpSocket::Outcome::kClosed) unsent_.clear();
}

std::optional<HeartbeatMessage> HeartbeatConnection::receive() {
  while (!closed_ && partial_bytes_ < partial_.size()) {
    const auto received = socket_.receive(std::span(partial_).subspan(partial_bytes_));
    partial_bytes_ += received.bytes;
    if (received.outcome == TcpSocket::Outcome::kNothing) return std::nullopt;
    if (received.outcome == TcpSocket::Outcome::kClosed) closed_ = received.why;
  }
  if (closed_) return std::nullopt;
  HeartbeatMessage message;
  std::memcpy(&message, partial_.data(), sizeof message);
  partial_bytes_ = 0;
  if (message.magic != HeartbeatMessage::kMagic) {
    closed_ = "garbled";
    return std::nullopt;
  }
  return message;
}

}  // namespace trireme::parallel
