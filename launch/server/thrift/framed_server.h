// FramedServer: the listening socket, the connections and their one thread, and a few workers for what takes longer
// than a moment. Knows nothing of what the messages say. Thrift's own non-blocking server is not used: it has no time
// limits, and its calls hold a thread each until they are answered.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "launch/server/thrift/framed_connection.h"

namespace trireme::thrift {

struct ListenOptions {
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;                // 0: any that is free
  std::string tls_certificate, tls_key;  // PEM files; empty: no TLS
  std::size_t max_connections = 4096;
  int num_workers = 2;
  FrameLimits frame;
};

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
  // Listens at once. `handler` outlives the server. Errors: an address in use or none of this host's, a bad
  // certificate.
  static base::Result<std::unique_ptr<FramedServer>> open(const ListenOptions& options, MessageHandler& handler);
  virtual ~FramedServer() = default;

  virtual std::uint16_t port() const = 0;
  virtual void post(std::function<void()> task) = 0;  // runs on the thread of the connections. Any thread
  virtual std::size_t num_connections() const = 0;    // any thread
  // Takes no more connections, lets answers under way go out for at most `limit`, closes all and joins the threads.
  virtual void stop(std::chrono::milliseconds limit) = 0;
};

}  // namespace trireme::thrift
