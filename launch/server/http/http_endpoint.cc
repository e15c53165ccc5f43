#include "launch/server/http/http_endpoint.h"

#include <string_view>
#include <utility>

#include "launch/server/http/api.h"
#include "launch/server/http/error_body.h"
#include "launch/server/http/http_server.h"

namespace trireme::server {
namespace {

using http::ExchangePtr;
using http::HttpRequest;
using http::HttpResponse;

http::ConnectionLimits connection_limits(const config::ServerConfig& config) {
  http::ConnectionLimits limits;
  limits.max_body_bytes = static_cast<std::size_t>(config.max_body_bytes);
  limits.header = std::chrono::milliseconds(config.header_limit_ms);
  limits.body = std::chrono::milliseconds(config.body_limit_ms);
  limits.idle = std::chrono::milliseconds(config.idle_limit_ms);
  limits.write = std::chrono::milliseconds(config.write_limit_ms);
  return limits;
}

// "Bearer KEY" → KEY.
std::string_view bearer_key(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) ? authorization.substr(kScheme.size()) : std::string_view();
}

bool is_json(std::string_view content_type) {
  return content_type.empty() || content_type.substr(0, content_type.find(';')) == "application/json";
}

class ApiEndpoint final : public NetworkEndpoint, private http::RequestHandler {
 public:
  explicit ApiEndpoint(const EndpointParts& parts) : api_{parts.config, parts.access, parts.metrics, parts.log} {
    http::add_status_routes(api_, router_);
    http::add_tokenize_routes(api_, router_);
    http::add_completion_routes(api_, router_);
    http::add_dashboard_route(router_);
  }
  ~ApiEndpoint() override { stop(); }

  base::Status open() {
    network::ListenOptions options = listen_options(api_.config, api_.config.http_port);
    options.name = "http";
    options.port_setting = "server.http_port";
    auto server = http::HttpServer::open(std::move(options), connection_limits(api_.config), *this);
    if (!server) return server.error();
    server_ = std::move(server).value();
    server_->start();
    log_listening("HTTP", port(), api_.config, api_.access, api_.log);
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
    server_.reset();
  }

 private:
  // ---- RequestHandler
  std::unique_ptr<HttpResponse> refuse_early(const HttpRequest& request) override {
    const auto refuse = [this](HttpResponse response) {
      api_.metrics.on_error("http", std::to_string(response.status));
      return std::make_unique<HttpResponse>(std::move(response));
    };
    const auto found = router_.find(request.method, request.path);
    if (const auto* none = std::get_if<http::Router::NoRoute>(&found)) {
      return refuse(http::error_response(none->status, none->message));
    }
    const http::Route& route = *std::get<const http::Route*>(found);
    if (route.needs == http::Needs::kNothing) return nullptr;
    if (!api_.access.tenant_of(bearer_key(request.authorization))) {
      HttpResponse response = http::error_response(401, "this needs an API key: Authorization: Bearer KEY");
      response.headers.emplace_back("WWW-Authenticate", "Bearer");
      return refuse(std::move(response));
    }
    if (request.method == "POST" && !is_json(request.content_type)) {
      return refuse(http::error_response(415, "the Content-Type must be application/json"));
    }
    if (route.needs == http::Needs::kKeyAndModel && api_.now() == nullptr) {
      return refuse(http::error_response(503, "Loading model"));
    }
    return nullptr;
  }

  void handle(ExchangePtr exchange) override {
    const auto found = router_.find(exchange->request().method, exchange->request().path);
    const http::Route* route = std::get<const http::Route*>(found);
    exchange->set_tenant(api_.access.tenant_of(bearer_key(exchange->request().authorization)).value_or(""));
    if (route->runs_on == http::RunsOn::kConnectionThread) return route->handler(exchange);
    server_->post_work([route, exchange] { route->handler(exchange); });
  }

  void dropped(const std::string& reason) override { api_.dropped(reason); }

  http::Api api_;
  http::Router router_;
  Served served_;
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace

base::Result<std::unique_ptr<NetworkEndpoint>> open_http_endpoint(const EndpointParts& parts) {
  auto endpoint = std::make_unique<ApiEndpoint>(parts);
  if (auto status = endpoint->open(); !status) return status.error();
  return std::unique_ptr<NetworkEndpoint>(std::move(endpoint));
}

}  // namespace trireme::server
