#include "launch/server/thrift/thrift_endpoint.h"

#include <thrift/TOutput.h>

#include <chrono>
#include <utility>

#include "launch/server/thrift/bounded_protocol.h"
#include "launch/server/thrift/inference_calls.h"
#include "launch/unix_time.h"

namespace trireme::server {
namespace {

using thrift::BoundedProtocol;
using thrift::FrameExchangePtr;
using thrift::TMemoryBuffer;

thrift::FrameLimits frame_limits(const config::ServerConfig& config) {
  thrift::FrameLimits limits;
  limits.max_frame_bytes = static_cast<std::size_t>(config.max_body_bytes);
  limits.handshake = std::chrono::milliseconds(config.header_limit_ms);
  limits.frame = std::chrono::milliseconds(config.body_limit_ms);
  limits.idle = std::chrono::milliseconds(config.idle_limit_ms);
  limits.write = std::chrono::milliseconds(config.write_limit_ms);
  return limits;
}

// One message with all that the generated code needs until it has written the answer: its continuations refer to these
// objects, so they live as long as the last continuation.
struct Call {
  Call(thrift::Api& api, const FrameExchangePtr& frame)
      : exchange(frame),
        input(BoundedProtocol::reading(frame->message())),
        output_buffer(std::make_shared<TMemoryBuffer>()),
        output(std::make_shared<apache::thrift::protocol::TCompactProtocol>(output_buffer)),
        processor(std::make_shared<thrift::InferenceCalls>(api, frame)) {}

  const FrameExchangePtr exchange;
  const std::shared_ptr<BoundedProtocol> input;
  const std::shared_ptr<TMemoryBuffer> output_buffer;
  const std::shared_ptr<apache::thrift::protocol::TProtocol> output;
  api::InferenceAsyncProcessor processor;
};

class Service final : public NetworkEndpoint, private thrift::MessageHandler {
 public:
  explicit Service(const EndpointParts& parts)
      : log_(parts.log),
        api_{.config = parts.config,
             .access = parts.access,
             .metrics = parts.metrics,
             .submissions = thrift::SubmissionTable(std::chrono::milliseconds(parts.config.unpolled_limit_ms)),
             .alive_since = launch::seconds_since_1970()} {}
  ~Service() override { stop(); }

  base::Status open() {
    // The library writes to standard error about what clients send.
    apache::thrift::GlobalOutput.setOutputFunction([](const char*) {});
    network::ListenOptions options = listen_options(api_.config, api_.config.thrift_port);
    options.name = "thrift";
    options.port_setting = "server.thrift_port";
    auto server = thrift::FramedServer::open(std::move(options), frame_limits(api_.config), *this);
    if (!server) return server.error();
    server_ = std::move(server).value();
    api_.server = server_.get();
    server_->start();
    log_listening("Thrift", port(), api_.config, api_.access, log_);
    return base::ok_status();
  }

  std::uint16_t port() const override { return server_->port(); }

  void serve(RequestService& service, const ServedModel& model) override {
    served_ = {&service, &model};
    api_.served.store(&served_, std::memory_order_release);
  }

  void stop() override {
    if (!server_) return;
    server_->stop(kStopLimit);
    api_.submissions.clear();
    server_.reset();
  }

 private:
  // ---- MessageHandler
  void handle(FrameExchangePtr exchange) override {
    try {
      auto call = std::make_shared<Call>(api_, exchange);
      call->processor.process(
          [call](bool healthy) {
            if (healthy) return call->exchange->respond(call->output_buffer->getBufferAsString());
            call->exchange->close();
          },
          call->input, call->output);
    } catch (const std::exception&) {  // what the library throws at a message that it cannot read
      exchange->close();
    }
  }
  void tick(std::chrono::steady_clock::time_point now) override { api_.submissions.tick(now); }
  bool awaits_clients() const override { return api_.submissions.has_undelivered(); }
  void dropped(const std::string& reason) override {
    api_.metrics.on_error("thrift", "connection");
    log_.warn("Thrift: a client " + reason + ": its connection is closed");
  }

  launch::Log& log_;
  thrift::Api api_;
  Served served_;
  std::unique_ptr<thrift::FramedServer> server_;
};

}  // namespace

base::Result<std::unique_ptr<NetworkEndpoint>> open_thrift_endpoint(const EndpointParts& parts) {
  auto endpoint = std::make_unique<Service>(parts);
  if (auto status = endpoint->open(); !status) return status.error();
  return std::unique_ptr<NetworkEndpoint>(std::move(endpoint));
}

}  // namespace trireme::server
