#include "launch/server/http/http_server.h"

#include <cstdio>
#include <random>
#include <utility>

namespace trireme::http {
namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr int kSendBufferBytes = 64 << 10;

class Server final : public HttpServer, private network::Protocol, private ConnectionOwner {
 public:
  Server(const ConnectionLimits& limits, RequestHandler& handler) : limits_(limits), handler_(handler) {}
  ~Server() override {
    if (listener_) listener_->stop(std::chrono::milliseconds(0));
  }

  base::Status listen(network::ListenOptions options) {
    options.tick = kTick;
    options.send_buffer_bytes = kSendBufferBytes;
    auto listener = network::Listener::open(std::move(options), *this);
    if (!listener) return listener.error();
    listener_ = std::move(listener).value();
    return base::ok_status();
  }

  void start() override { listener_->start(); }
  std::uint16_t port() const override { return listener_->port(); }
  void post_work(std::function<void()> task) override { listener_->post_work(std::move(task)); }
  void stop(std::chrono::milliseconds limit) override { listener_->stop(limit); }

 private:
  // ---- network::Protocol
  std::shared_ptr<network::Connection> connect(std::uint64_t id, std::unique_ptr<network::Socket> socket) override {
    return Connection::make(id, std::move(socket), *this);
  }

  // ---- ConnectionOwner
  const ConnectionLimits& limits() const override { return limits_; }
  std::unique_ptr<HttpResponse> refuse_early(const HttpRequest& request) override {
    return handler_.refuse_early(request);
  }
  void handle(ExchangePtr exchange) override { handler_.handle(std::move(exchange)); }
  void post(std::function<void()> task) override { listener_->post(std::move(task)); }
  void dropped(const std::string& reason) override { handler_.dropped(reason); }
  std::string new_request_id() override {
    char text[40];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(random_()),
                  static_cast<unsigned long long>(random_()));
    return text;
  }
  void closed(std::uint64_t id) override { listener_->forget(id); }

  const ConnectionLimits limits_;
  RequestHandler& handler_;
  std::mt19937_64 random_{std::random_device{}()};
  std::unique_ptr<network::Listener> listener_;
};

}  // namespace

base::Result<std::unique_ptr<HttpServer>> HttpServer::open(network::ListenOptions options,
                                                           const ConnectionLimits& limits, RequestHandler& handler) {
  auto server = std::make_unique<Server>(limits, handler);
  if (auto status = server->listen(std::move(options)); !status) return status.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace trireme::http
