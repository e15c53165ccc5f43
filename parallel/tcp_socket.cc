#include "parallel/tcp_socket.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "parallel/error.h"

namespace trireme::parallel {
namespace {

std::string error_text(int code) {
  std::array<char, 128> buffer{};
  return ::strerror_r(code, buffer.data(), buffer.size());
}

void send_at_once(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// IPv6 sockets serve both, where the system has IPv6.
bool bind_any(int fd, int family) {
  if (family == AF_INET6) {
    const int off = 0;
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_addr = in6addr_any;
    return ::bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0;
  }
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  return ::bind(fd, reinterpret_cast<sockaddr*>(&any), sizeof any) == 0;
}

bool wait_connected(int fd, TcpSocket::Clock::time_point deadline) {
  pollfd entry{fd, POLLOUT, 0};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - TcpSocket::Clock::now());
    if (left.count() <= 0) return false;
    const int ready = ::poll(&entry, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    int error = 0;
    socklen_t length = sizeof error;
    return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
  }
}

}  // namespace

TcpSocket::TcpSocket(TcpSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

TcpSocket& TcpSocket::operator=(TcpSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

TcpSocket::~TcpSocket() {
  close();
}

void TcpSocket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

TcpSocket TcpSocket::listen(int backlog) {
  for (const int family : {AF_INET6, AF_INET}) {
    TcpSocket socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (socket.is_open() && bind_any(socket.fd(), family) && ::listen(socket.fd(), backlog) == 0) return socket;
  }
  throw ParallelError("heartbeat: cannot listen on any address: " + error_text(errno));
}

std::uint16_t TcpSocket::port() const {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    throw ParallelError("heartbeat: getsockname: " + error_text(errno));
  }
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                             : reinterpret_cast<const sockaddr_in&>(address).sin_port);
}

std::optional<TcpSocket> TcpSocket::accept() const {
  TcpSocket socket(::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!socket.is_open()) return std::nullopt;
  send_at_once(socket.fd());
  return socket;
}

std::optional<TcpSocket> TcpSocket::connect(const std::string& address, std::uint16_t port,
                                            Clock::time_point deadline) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);

  TcpSocket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return std::nullopt;
  send_at_once(socket.fd());
  const bool connected = ::connect(socket.fd(), found->ai_addr, found->ai_addrlen) == 0;
  if (!connected && (errno != EINPROGRESS || !wait_connected(socket.fd(), deadline))) return std::nullopt;
  return socket;
}

TcpSocket::Transfer TcpSocket::send(std::span<const std::byte> bytes) const {
  const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (sent >= 0) return {Outcome::kSome, static_cast<std::size_t>(sent), {}};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {Outcome::kNothing, 0, {}};
  return {Outcome::kClosed, 0, error_text(errno)};
}

TcpSocket::Transfer TcpSocket::receive(std::span<std::byte> bytes) const {
  const ssize_t received = ::recv(fd_, bytes.data(), bytes.size(), 0);
  if (received > 0) return {Outcome::kSome, static_cast<std::size_t>(received), {}};
  if (received == 0) return {Outcome::kClosed, 0, "closed"};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return {Outcome::kNothing, 0, {}};
  return {Outcome::kClosed, 0, error_text(errno)};
}

std::vector<std::string> interface_addresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, ::freeifaddrs);
  std::vector<std::string> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_UP) == 0 || (entry->ifa_flags & IFF_LOOPBACK) != 0) {
      continue;
    }
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (entry->ifa_addr->sa_family == AF_INET) {
      ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(entry->ifa_addr)->sin_addr, text.data(), text.size());
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const in6_addr& address = reinterpret_cast<sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
      if (IN6_IS_ADDR_LINKLOCAL(&address)) continue;
      ::inet_ntop(AF_INET6, &address, text.data(), text.size());
    } else {
      continue;
    }
    addresses.emplace_back(text.data());
  }
  return addresses;
}

}  // namespace trireme::parallel
