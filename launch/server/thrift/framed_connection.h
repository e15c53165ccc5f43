// FramedConnection: one client of the Thrift endpoint. Messages stand behind their length in four bytes (Thrift's
// framed transport); one is answered before the next is looked at. Thread of the listener's connections. What is
// allocated is what has come, whatever length is claimed.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "launch/server/network/listener.h"

namespace trireme::thrift {

struct FrameLimits {
  std::size_t max_frame_bytes = 0;
  std::chrono::milliseconds handshake{0};  // of TLS
  std::chrono::milliseconds idle{0};       // between two messages
  std::chrono::milliseconds frame{0};      // from the first byte of a message to its last
  std::chrono::milliseconds write{0};      // for the client to take an answer
};

// A message that waits for its answer.
class FrameExchange {
 public:
  virtual ~FrameExchange() = default;
  virtual const std::string& message() const = 0;
  // Any thread, one of them, once. close(): the message is not worth an answer.
  virtual void respond(std::string answer) = 0;
  virtual void close() = 0;
  // Thread of the connections. `handler` is called there if the client goes before it is answered, or has gone already.
  virtual void on_gone(std::function<void()> handler) = 0;
};
using FrameExchangePtr = std::shared_ptr<FrameExchange>;

class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual const FrameLimits& limits() const = 0;
  virtual void handle(FrameExchangePtr exchange) = 0;
  virtual void post(std::function<void()> task) = 0;              // any thread; runs on that of the connections
  virtual void closed(std::uint64_t id, const char* reason) = 0;  // empty reason: the client went
};

class FramedConnection final : public network::Connection, public std::enable_shared_from_this<FramedConnection> {
 public:
  FramedConnection(std::uint64_t id, std::unique_ptr<network::Socket> socket, ConnectionOwner& owner)
      : id_(id), socket_(std::move(socket)), owner_(owner) {}

  void start() override;
  void check_deadline(Clock::time_point now) override;
  void finish() override;
  void close() override { close(""); }
  void close(const char* reason);

 private:
  class Exchange;

  void read();
  void take_frame();
  void wait_for_frame();  // sets the deadline
  void respond(const std::string& answer);

  const std::uint64_t id_;
  const std::unique_ptr<network::Socket> socket_;
  ConnectionOwner& owner_;
  std::array<char, 16 << 10> chunk_;
  std::string input_, output_;
  std::function<void()> on_gone_;
  Clock::time_point deadline_ = Clock::time_point::max();
  bool busy_ = false, reading_ = false, frame_begun_ = false, finishing_ = false, closed_ = false;
};

}  // namespace trireme::thrift
