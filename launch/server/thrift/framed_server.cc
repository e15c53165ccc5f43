#include "launch/server/thrift/framed_server.h"

#include <pthread.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trireme::thrift {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kTick{10};
constexpr std::chrono::milliseconds kAcceptPause{100};  // after the process ran out of descriptors, say
constexpr int kBacklog = 1024;

class Server final : public FramedServer, private ConnectionOwner {
 public:
  Server(const ListenOptions& options, MessageHandler& handler)
      : options_(options), handler_(handler), workers_(static_cast<std::size_t>(options.num_workers)) {}
  ~Server() override { stop(std::chrono::milliseconds(0)); }

  base::Status listen() {
    if (auto tls = load_tls(); !tls) return tls;
    error_code error;
    const asio::ip::address address = asio::ip::make_address(options_.host, error);
    if (error) return base::invalid_argument("server.host: " + options_.host + " is no IP address");
    const tcp::endpoint endpoint(address, options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(kBacklog, error);
    if (error) {
      return base::invalid_argument("cannot listen on " + options_.host + " port " + std::to_string(options_.port) +
                                    ": " + error.message() + " (server.host, server.thrift_port)");
    }
    port_ = acceptor_.local_endpoint().port();
    return base::ok_status();
  }

  void start() {
    accept();
    tick();
    thread_ = std::thread([this] {
      ::pthread_setname_np(::pthread_self(), "thrift");
      context_.run();
    });
  }

  std::uint16_t port() const override { return port_; }
  std::size_t num_connections() const override { return num_connections_.load(); }
  void post(std::function<void()> task) override { asio::post(context_, std::move(task)); }

  void stop(std::chrono::milliseconds limit) override {
    if (!thread_.joinable()) return;
    asio::post(context_, [this, limit] {
      stop_at_ = FramedConnection::Clock::now() + limit;
      error_code ignored;
      acceptor_.close(ignored);
    });
    thread_.join();
    workers_.stop();
    workers_.join();
    // The thread has ended: tells all handlers that their clients are gone.
    for_each([](FramedConnection& connection) { connection.close(""); });
    context_.restart();
    context_.poll();
  }

 private:
  // ---- ConnectionOwner
  const FrameLimits& limits() const override { return options_.frame; }
  void handle(FrameExchangePtr exchange) override {
    asio::post(workers_, [this, exchange = std::move(exchange)] { handler_.handle(exchange); });
  }
  void closed(std::uint64_t id, const char* reason) override {
    connections_.erase(id);
    num_connections_ = connections_.size();
    if (*reason != '\0') handler_.dropped(reason);
  }

  base::Status load_tls() {
    if (options_.tls_certificate.empty() && options_.tls_key.empty()) return base::ok_status();
    if (options_.tls_certificate.empty() || options_.tls_key.empty()) {
      return base::invalid_argument("server.tls_certificate and server.tls_key need each other");
    }
    tls_ = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    error_code error;
    tls_->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                          asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_compression,
                      error);
    if (!error) tls_->use_certificate_chain_file(options_.tls_certificate, error);
    if (error) return base::invalid_argument(options_.tls_certificate + ": " + error.message());
    tls_->use_private_key_file(options_.tls_key, asio::ssl::context::pem, error);
    if (error) return base::invalid_argument(options_.tls_key + ": " + error.message());
    return base::ok_status();
  }

  void accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (!acceptor_.is_open()) return;
      if (error) return pause_accepting();
      if (connections_.size() < options_.max_connections) add(std::move(socket));
      accept();
    });
  }

  void pause_accepting() {
    accept_pause_.expires_after(kAcceptPause);
    accept_pause_.async_wait([this](const error_code&) {
      if (acceptor_.is_open()) accept();
    });
  }

  void add(tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    const std::uint64_t id = ++last_id_;
    const auto connection = std::make_shared<FramedConnection>(id, http::Socket::make(std::move(socket), tls_.get()),
                                                               static_cast<ConnectionOwner&>(*this));
    connections_.emplace(id, connection);
    num_connections_ = connections_.size();
    connection->start();
  }

  void tick() {
    timer_.expires_after(kTick);
    timer_.async_wait([this](const error_code&) {
      const auto now = FramedConnection::Clock::now();
      handler_.tick(now);
      for_each([now](FramedConnection& connection) { connection.check_deadline(now); });
      if (stop_at_ && !handler_.awaits_clients()) {
        for_each([](FramedConnection& connection) { connection.finish(); });
      }
      if (stop_at_ && (connections_.empty() || now >= *stop_at_)) return context_.stop();
      tick();
    });
  }

  // Those that the function closes leave the table.
  void for_each(const std::function<void(FramedConnection&)>& function) {
    std::vector<std::shared_ptr<FramedConnection>> all;
    all.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) all.push_back(connection);
    for (const auto& connection : all) function(*connection);
  }

  const ListenOptions options_;
  MessageHandler& handler_;
  asio::io_context context_{1};  // outlives all that waits in it
  std::unique_ptr<asio::ssl::context> tls_;
  std::unordered_map<std::uint64_t, std::shared_ptr<FramedConnection>> connections_;
  asio::thread_pool workers_;
  tcp::acceptor acceptor_{context_};
  asio::steady_timer timer_{context_}, accept_pause_{context_};
  std::optional<FramedConnection::Clock::time_point> stop_at_;
  std::uint64_t last_id_ = 0;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> num_connections_{0};
  std::thread thread_;
};

}  // namespace

base::Result<std::unique_ptr<FramedServer>> FramedServer::open(const ListenOptions& options, MessageHandler& handler) {
  auto server = std::make_unique<Server>(options, handler);
  if (auto status = server->listen(); !status) return status.error();
  server->start();
  return std::unique_ptr<FramedServer>(std::move(server));
}

}  // namespace trireme::thrift
