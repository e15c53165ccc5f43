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

constexpr std::chrono::milliseconds kStopLimit{2000};  // for the last answers to go out

http::ListenOptions listen_options(const config::ServerConfig& config) {
  http::ListenOptions options;
  options.host = config.host;
  options.port = static_cast<std::uint16_t>(config.http_port);
  options.tls_certificate = config.tls_certificate;
  options.tls_key = config.tls_key;
  options.max_connections = static_cast<std::size_t>(config.max_connections);
  options.num_workers = config.workers;
  options.connection.max_body_bytes = static_cast<std::size_t>(config.max_body_bytes);
  options.connection.header = std::chrono::milliseconds(config.header_limit_ms);
  options.connection.body = std::chrono::milliseconds(config.body_limit_ms);
  options.connection.idle = std::chrono::milliseconds(config.idle_limit_ms);
  options.connection.write = std::chrono::milliseconds(config.write_limit_ms);
  return options;
}

// "Bearer KEY" → KEY.
std::string_view bearer_key(std::string_view authorization) {
  constexpr std::string_view kScheme = "Bearer ";
  return authorization.starts_with(kScheme) ? authorization.substr(kScheme.size()) : std::string_view();
}

bool is_json(std::string_view content_type) {
  return content_type.empty() || content_type.substr(0, content_type.find(';')) == "application/json";
}

class ApiEndpoint final : public HttpEndpoint, private http::RequestHandler {
 public:
  explicit ApiEndpoint(const HttpEndpointParts& parts) : api_{parts.config, parts.access, parts.metrics, parts.log} {
    http::add_status_routes(api_, router_);
    http::add_tokenize_routes(api_, router_);
    http::add_completion_routes(api_, router_);
  }
  ~ApiEndpoint() override { stop(); }

  base::Status open() {
    auto server = http::HttpServer::open(listen_options(api_.config), *this);
    if (!server) return server.error();
    server_ = std::move(server).value();
    api_.log.info("HTTP on " + api_.config.host + " port " + std::to_string(server_->port()) +
                  (api_.config.tls_certificate.empty() ? "" : ", with TLS") +
                  (api_.access.open() ? "" : ", for those with an API key"));
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
  http::Served served_;
  std::unique_ptr<http::HttpServer> server_;
};

}  // namespace

base::Result<std::unique_ptr<HttpEndpoint>> open_http_endpoint(const HttpEndpointParts& parts) {
  auto endpoint = std::make_unique<ApiEndpoint>(parts);
  if (auto status = endpoint->open(); !status) return status.error();
  return std::unique_ptr<HttpEndpoint>(std::move(endpoint));
}

}  // namespace trireme::server
