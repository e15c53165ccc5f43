// Socket: a TCP connection, with or without TLS. One read and one write at a time; thread of its io_context.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace boost::asio::ssl {
class context;
}

namespace trireme::network {

class Socket {
 public:
  using Handler = std::function<void(const boost::system::error_code&, std::size_t)>;

  // `tls` outlives this; null: plain TCP.
  static std::unique_ptr<Socket> make(boost::asio::ip::tcp::socket socket, boost::asio::ssl::context* tls);
  virtual ~Socket() = default;

  // Before anything else; without TLS there is nothing to do.
  virtual void async_handshake(std::function<void(const boost::system::error_code&)> handler) = 0;
  virtual void async_read_some(boost::asio::mutable_buffer buffer, Handler handler) = 0;
  // All of the buffer, which stays valid until then.
  virtual void async_write(boost::asio::const_buffer buffer, Handler handler) = 0;
  // Tells the peer that nothing more comes, but still reads.
  virtual void shutdown_send() = 0;
  virtual void close() = 0;
};

}  // namespace trireme::network
