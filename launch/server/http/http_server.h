// HttpServer: HTTP/1.1 on a Listener. Knows nothing of what is asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "launch/server/http/connection.h"
#include "launch/server/network/listener.h"

namespace trireme::http {

// What is done with requests; thread of the connections.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  virtual std::unique_ptr<HttpResponse> refuse_early(const HttpRequest& request) = 0;
  virtual void handle(ExchangePtr exchange) = 0;
  virtual void dropped(const std::string& reason) = 0;
};

class HttpServer {
 public:
  // Takes its port at once, and requests from start() on. `handler` outlives the server. Errors: as Listener::open.
  static base::Result<std::unique_ptr<HttpServer>> open(network::ListenOptions options, const ConnectionLimits& limits,
                                                        RequestHandler& handler);
  virtual ~HttpServer() = default;

  virtual void start() = 0;
  virtual std::uint16_t port() const = 0;
  // Runs `task` on a worker. Any thread.
  virtual void post_work(std::function<void()> task) = 0;
  // As Listener::stop.
  virtual void stop(std::chrono::milliseconds limit) = 0;
};

}  // namespace trireme::http
