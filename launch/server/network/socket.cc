#include "launch/server/network/socket.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace trireme::network {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

class PlainSocket final : public Socket {
 public:
  explicit PlainSocket(tcp::socket socket) : socket_(std::move(socket)) {}

  void async_handshake(std::function<void(const error_code&)> handler) override {
    asio::post(socket_.get_executor(), [handler = std::move(handler)] { handler({}); });
  }
  void async_read_some(asio::mutable_buffer buffer, Handler handler) override {
    socket_.async_read_some(buffer, std::move(handler));
  }
  void async_write(asio::const_buffer buffer, Handler handler) override {
    asio::async_write(socket_, buffer, std::move(handler));
  }
  void shutdown_send() override {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
  }
  void close() override {
    error_code ignored;
    socket_.close(ignored);
  }

 private:
  tcp::socket socket_;
};

class TlsSocket final : public Socket {
 public:
  TlsSocket(tcp::socket socket, asio::ssl::context& context) : stream_(std::move(socket), context) {}

  void async_handshake(std::function<void(const error_code&)> handler) override {
    stream_.async_handshake(asio::ssl::stream_base::server, std::move(handler));
  }
  void async_read_some(asio::mutable_buffer buffer, Handler handler) override {
    stream_.async_read_some(buffer, std::move(handler));
  }
  void async_write(asio::const_buffer buffer, Handler handler) override {
    asio::async_write(stream_, buffer, std::move(handler));
  }
  void shutdown_send() override {
    ::SSL_shutdown(stream_.native_handle());  // only notes it: the BIO below is memory
    error_code ignored;
    stream_.next_layer().shutdown(tcp::socket::shutdown_send, ignored);
  }
  void close() override {
    error_code ignored;
    stream_.next_layer().close(ignored);
  }

 private:
  asio::ssl::stream<tcp::socket> stream_;
};

}  // namespace

std::unique_ptr<Socket> Socket::make(tcp::socket socket, asio::ssl::context* tls) {
  if (tls == nullptr) return std::make_unique<PlainSocket>(std::move(socket));
  return std::make_unique<TlsSocket>(std::move(socket), *tls);
}

}  // namespace trireme::network
