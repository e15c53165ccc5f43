// A plain HTTP client for tests: sends bytes, and reads until the server closes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace trireme::test {

inline std::string exchange(std::uint16_t port, const std::string& request) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(descriptor);
    throw std::runtime_error("connect");
  }
  std::string answer;
  if (::send(descriptor, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size())) {
    char part[4096];
    for (ssize_t bytes = 0; (bytes = ::recv(descriptor, part, sizeof part, 0)) > 0;) {
      answer.append(part, static_cast<std::size_t>(bytes));
    }
  }
  ::close(descriptor);
  return answer;
}

inline std::string http_request(const std::string& method, const std::string& path, const std::string& body = "",
                                const std::string& headers = "") {
  return method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n" +
         headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace trireme::test
