// HttpServer: the listening socket, the connections and their one thread, and a few workers for what takes longer than
// a moment. Knows nothing of what is asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"
#include "launch/server/http/connection.h"

namespace trireme::http {

struct ListenOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;                // 0: any that is free
  std::string tls_certificate, tls_key;  // PEM files; empty: no TLS
  std::size_t max_connections = 4096;
  int num_workers = 2;
  ConnectionLimits connection;
};

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
  // Listens at once. `handler` outlives the server. Errors: an address in use or none of this host's, a bad
  // certificate.
  static base::Result<std::unique_ptr<HttpServer>> open(const ListenOptions& options, RequestHandler& handler);
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;
  // Runs `task` on a worker. Any thread.
  virtual void post_work(std::function<void()> task) = 0;
  // Takes no more connections, lets responses under way go out for at most `limit`, closes all and joins the threads.
  virtual void stop(std::chrono::milliseconds limit) = 0;
};

}  // namespace trireme::http
