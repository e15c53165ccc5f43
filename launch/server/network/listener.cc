#include "launch/server/network/listener.h"

#include <pthread.h>

#include <atomic>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

namespace trireme::network {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kAcceptPause{100};  // after the process ran out of descriptors, say
constexpr int kBacklog = 1024;

class TcpListener final : public Listener {
 public:
  TcpListener(ListenOptions options, Protocol& protocol)
      : options_(std::move(options)), protocol_(protocol), workers_(static_cast<std::size_t>(options_.num_workers)) {}
  ~TcpListener() override { stop(std::chrono::milliseconds(0)); }

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
                                    ": " + error.message() + " (server.host, " + options_.port_setting + ")");
    }
    port_ = acceptor_.local_endpoint().port();
    return base::ok_status();
  }

  void start() override {
    accept();
    tick();
    thread_ = std::thread([this] {
      ::pthread_setname_np(::pthread_self(), options_.name.c_str());
      context_.run();
    });
  }

  std::uint16_t port() const override { return port_; }
  std::size_t num_connections() const override { return num_connections_.load(); }
  void post(std::function<void()> task) override { asio::post(context_, std::move(task)); }
  void post_work(std::function<void()> task) override { asio::post(workers_, std::move(task)); }
  void forget(std::uint64_t id) override {
    connections_.erase(id);
    num_connections_ = connections_.size();
  }

  void stop(std::chrono::milliseconds limit) override {
    if (!thread_.joinable()) return;
    asio::post(context_, [this, limit] {
      stop_at_ = Connection::Clock::now() + limit;
      error_code ignored;
      acceptor_.close(ignored);
      timer_.cancel();  // the next look, now
    });
    thread_.join();
    workers_.stop();
    workers_.join();
    close_all();
  }

 private:
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
    if (options_.send_buffer_bytes > 0) {
      socket.set_option(asio::socket_base::send_buffer_size(options_.send_buffer_bytes), ignored);
    }
    const std::uint64_t id = ++last_id_;
    const auto connection = protocol_.connect(id, Socket::make(std::move(socket), tls_.get()));
    connections_.emplace(id, connection);
    num_connections_ = connections_.size();
    connection->start();
  }

  // Time limits are looked after for all connections at once: a timer each would cost more than the looks do.
  void tick() {
    timer_.expires_after(options_.tick);
    timer_.async_wait([this](const error_code&) {
      const auto now = Connection::Clock::now();
      protocol_.tick(now);
      for_each([now](Connection& connection) { connection.check_deadline(now); });
      if (stop_at_ && !protocol_.awaits_clients()) for_each([](Connection& connection) { connection.finish(); });
      if (stop_at_ && (connections_.empty() || now >= *stop_at_)) return context_.stop();
      tick();
    });
  }

  // Those that the function closes leave the table.
  void for_each(const std::function<void(Connection&)>& function) {
    std::vector<std::shared_ptr<Connection>> all;
    all.reserve(connections_.size());
    for (const auto& [id, connection] : connections_) all.push_back(connection);
    for (const auto& connection : all) function(*connection);
  }

  // The thread has ended: tells all handlers that their clients are gone.
  void close_all() {
    for_each([](Connection& connection) { connection.close(); });
    context_.restart();
    context_.poll();
  }

  const ListenOptions options_;
  Protocol& protocol_;
  asio::io_context context_{1};  // outlives all that waits in it
  std::unique_ptr<asio::ssl::context> tls_;
  std::unordered_map<std::uint64_t, std::shared_ptr<Connection>> connections_;
  asio::thread_pool workers_;
  tcp::acceptor acceptor_{context_};
  asio::steady_timer timer_{context_}, accept_pause_{context_};
  std::optional<Connection::Clock::time_point> stop_at_;
  std::uint64_t last_id_ = 0;
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> num_connections_{0};
  std::thread thread_;
};

}  // namespace

base::Result<std::unique_ptr<Listener>> Listener::open(ListenOptions options, Protocol& protocol) {
  auto listener = std::make_unique<TcpListener>(std::move(options), protocol);
  if (auto status = listener->listen(); !status) return status.error();
  return std::unique_ptr<Listener>(std::move(listener));
}

}  // namespace trireme::network
