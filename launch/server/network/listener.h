// Listener: a listening socket, its connections and their one thread, and a few workers for what takes longer than a
// moment. Knows nothing of what connections say.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "launch/server/network/socket.h"

namespace trireme::network {

struct ListenOptions {
  std::string name;                      // of the thread
  std::string host = "127.0.0.1";        // server.host
  std::uint16_t port = 0;                // 0: any that is free
  std::string port_setting;              // for messages
  std::string tls_certificate, tls_key;  // PEM files; empty: no TLS
  std::size_t max_connections = 4096;
  int num_workers = 2;
  std::chrono::milliseconds tick{50};  // between two looks at the connections' time limits
  int send_buffer_bytes = 0;           // what the system keeps for a client that does not read; 0: as it likes
};

// One client's connection; thread of the connections.
class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Connection() = default;
  virtual void start() = 0;
  virtual void check_deadline(Clock::time_point now) = 0;
  // Closes when the answer under way is complete; at once if there is none.
  virtual void finish() = 0;
  // Calls Listener::forget.
  virtual void close() = 0;
};

// What makes connections of sockets; thread of the connections.
class Protocol {
 public:
  virtual ~Protocol() = default;
  virtual std::shared_ptr<Connection> connect(std::uint64_t id, std::unique_ptr<Socket> socket) = 0;
  virtual void tick(Connection::Clock::time_point) {}
  // Whether clients are still to come for what they asked for: connections stay open then while the listener stops.
  virtual bool awaits_clients() const { return false; }
};

class Listener {
 public:
  // Takes its port at once, and connections from start() on. `protocol` outlives stop(). Errors: an address in use or
  // none of this host's, a bad certificate.
  static base::Result<std::unique_ptr<Listener>> open(ListenOptions options, Protocol& protocol);
  virtual ~Listener() = default;

  virtual void start() = 0;
  virtual std::uint16_t port() const = 0;
  virtual std::size_t num_connections() const = 0;         // any thread
  virtual void post(std::function<void()> task) = 0;       // runs on the thread of the connections. Any thread
  virtual void post_work(std::function<void()> task) = 0;  // runs on a worker. Any thread
  virtual void forget(std::uint64_t id) = 0;               // a connection that has closed; thread of the connections
  // Takes no more connections, lets answers under way go out for at most `limit`, closes all and joins the threads.
  virtual void stop(std::chrono::milliseconds limit) = 0;
};

}  // namespace trireme::network
