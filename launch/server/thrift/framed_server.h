// FramedServer: Thrift's framed messages on a Listener. Knows nothing of what they say. Thrift's own non-blocking
// server is not used: it has no time limits, and its calls hold a thread each until they are answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "launch/server/network/listener.h"
#include "launch/server/thrift/framed_connection.h"

namespace trireme::thrift {

class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  virtual void handle(FrameExchangePtr exchange) = 0;                // on a worker
  virtual void tick(std::chrono::steady_clock::time_point now) = 0;  // every few ms, thread of the connections
  // Whether clients are still to come for what they asked for: connections stay open then while the server stops.
  virtual bool awaits_clients() const = 0;
  virtual void dropped(const std::string& reason) = 0;  // a client that was at fault; thread of the connections
};

class FramedServer {
 public:
  // Takes its port at once, and messages from start() on. `handler` outlives the server. Errors: as Listener::open.
  static base::Result<std::unique_ptr<FramedServer>> open(network::ListenOptions options, const FrameLimits& limits,
                                                          MessageHandler& handler);
  virtual ~FramedServer() = default;

  virtual void start() = 0;
  virtual std::uint16_t port() const = 0;
  virtual void post(std::function<void()> task) = 0;  // runs on the thread of the connections. Any thread
  virtual std::size_t num_connections() const = 0;    // any thread
  // As Listener::stop.
  virtual void stop(std::chrono::milliseconds limit) = 0;
};

}  // namespace trireme::thrift
