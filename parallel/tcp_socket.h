// TcpSocket: move-only owner of a non-blocking TCP socket, and what the heartbeat needs of addresses. IPv6 and IPv4.
// Failures of the network are outcomes here; only a machine without sockets throws ParallelError.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trireme::parallel {

class TcpSocket {
 public:
  using Clock = std::chrono::steady_clock;

  TcpSocket() = default;
  explicit TcpSocket(int fd) : fd_(fd) {}
  TcpSocket(TcpSocket&& other) noexcept;
  TcpSocket& operator=(TcpSocket&& other) noexcept;
  ~TcpSocket();

  // Listens on all addresses of this host, on a port that the system chooses. Throws ParallelError.
  static TcpSocket listen(int backlog);
  std::uint16_t port() const;
  std::optional<TcpSocket> accept() const;  // a connection that is waiting, if any

  // Connects to a numeric address; none if it is not accepted until the deadline.
  static std::optional<TcpSocket> connect(const std::string& address, std::uint16_t port, Clock::time_point deadline);

  enum class Outcome { kSome, kNothing, kClosed };  // kNothing: not now
  struct Transfer {
    Outcome outcome;
    std::size_t bytes = 0;
    std::string why;  // it is closed
  };
  Transfer send(std::span<const std::byte> bytes) const;  // no SIGPIPE
  Transfer receive(std::span<std::byte> bytes) const;

  int fd() const { return fd_; }  // for poll
  bool is_open() const { return fd_ >= 0; }
  void close();

 private:
  int fd_ = -1;
};

// Numeric addresses of this host's interfaces that are up, without loopback and link-local ones.
std::vector<std::string> interface_addresses();

}  // namespace trireme::parallel
