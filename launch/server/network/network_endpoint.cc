#include "launch/server/network/network_endpoint.h"

namespace trireme::server {

network::ListenOptions listen_options(const config::ServerConfig& config, std::int32_t port) {
  network::ListenOptions options;
  options.host = config.host;
  options.port = static_cast<std::uint16_t>(port);
  options.tls_certificate = config.tls_certificate;
  options.tls_key = config.tls_key;
  options.max_connections = static_cast<std::size_t>(config.max_connections);
  options.num_workers = config.workers;
  return options;
}

void log_listening(const std::string& protocol, std::uint16_t port, const config::ServerConfig& config,
                   const Access& access, launch::Log& log) {
  log.info(protocol + " on " + config.host + " port " + std::to_string(port) +
           (config.tls_certificate.empty() ? "" : ", with TLS") + (access.open() ? "" : ", for those with an API key"));
}

}  // namespace trireme::server
