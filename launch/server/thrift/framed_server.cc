#include "launch/server/thrift/framed_server.h"

#include <utility>

namespace trireme::thrift {
namespace {

constexpr std::chrono::milliseconds kTick{10};

class Server final : public FramedServer, private network::Protocol, private ConnectionOwner {
 public:
  Server(const FrameLimits& limits, MessageHandler& handler) : limits_(limits), handler_(handler) {}
  ~Server() override {
    if (listener_) listener_->stop(std::chrono::milliseconds(0));
  }

  base::Status listen(network::ListenOptions options) {
    options.tick = kTick;
    auto listener = network::Listener::open(std::move(options), *this);
    if (!listener) return listener.error();
    listener_ = std::move(listener).value();
    return base::ok_status();
  }

  void start() override { listener_->start(); }
  std::uint16_t port() const override { return listener_->port(); }
  std::size_t num_connections() const override { return listener_->num_connections(); }
  void post(std::function<void()> task) override { listener_->post(std::move(task)); }
  void stop(std::chrono::milliseconds limit) override { listener_->stop(limit); }

 private:
  // ---- network::Protocol
  std::shared_ptr<network::Connection> connect(std::uint64_t id, std::unique_ptr<network::Socket> socket) override {
    return std::make_shared<FramedConnection>(id, std::move(socket), static_cast<ConnectionOwner&>(*this));
  }
  void tick(network::Connection::Clock::time_point now) override { handler_.tick(now); }
  bool awaits_clients() const override { return handler_.awaits_clients(); }

  // ---- ConnectionOwner
  const FrameLimits& limits() const override { return limits_; }
  void handle(FrameExchangePtr exchange) override {
    listener_->post_work([this, exchange = std::move(exchange)] { handler_.handle(exchange); });
  }
  void closed(std::uint64_t id, const char* reason) override {
    listener_->forget(id);
    if (*reason != '\0') handler_.dropped(reason);
  }

  const FrameLimits limits_;
  MessageHandler& handler_;
  std::unique_ptr<network::Listener> listener_;
};

}  // namespace

base::Result<std::unique_ptr<FramedServer>> FramedServer::open(network::ListenOptions options,
                                                               const FrameLimits& limits, MessageHandler& handler) {
  auto server = std::make_unique<Server>(limits, handler);
  if (auto status = server->listen(std::move(options)); !status) return status.error();
  return std::unique_ptr<FramedServer>(std::move(server));
}

}  // namespace trireme::thrift
