// Connection: one client's TCP connection: reads requests, one after the other, and writes what their exchanges answer.
// It reads all the time, so that it notices at once when the client goes away. Thread of the
// listener's connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "launch/server/http/exchange.h"
#include "launch/server/network/listener.h"

namespace trireme::http {

struct ConnectionLimits {
  std::size_t max_header_bytes = std::size_t{16} << 10;
  std::size_t max_body_bytes = std::size_t{8} << 20;
  std::chrono::milliseconds header{10'000}, body{30'000}, idle{75'000}, write{30'000};
};

// What a connection asks of its server.
class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  virtual const ConnectionLimits& limits() const = 0;
  // The header alone has come: nothing, or the answer that makes the body needless.
  virtual std::unique_ptr<HttpResponse> refuse_early(const HttpRequest& request) = 0;
  virtual void handle(ExchangePtr exchange) = 0;
  virtual std::string new_request_id() = 0;
  virtual void post(std::function<void()> task) = 0;    // any thread
  virtual void dropped(const std::string& reason) = 0;  // for the log
  virtual void closed(std::uint64_t id) = 0;
};

class Connection : public network::Connection, public std::enable_shared_from_this<Connection> {
 public:
  // `owner` outlives this.
  static std::shared_ptr<Connection> make(std::uint64_t id, std::unique_ptr<network::Socket> socket,
                                          ConnectionOwner& owner);
};

}  // namespace trireme::http
