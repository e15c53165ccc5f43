// NetworkEndpoint: an endpoint on a port, and what all of them are made of.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "launch/log.h"
#include "launch/server/core/access.h"
#include "launch/server/core/endpoint.h"
#include "launch/server/metrics/metrics.h"
#include "launch/server/network/listener.h"
#include "runtime/config/config.h"

namespace trireme::server {

// All of it outlives the endpoint.
struct EndpointParts {
  const config::ServerConfig& config;
  const Access& access;
  Metrics& metrics;
  launch::Log& log;
};

class NetworkEndpoint : public Endpoint {
 public:
  virtual std::uint16_t port() const = 0;
};

inline constexpr std::chrono::milliseconds kStopLimit{2000};  // for the last answers to go out

// What the endpoints' listeners have in common.
network::ListenOptions listen_options(const config::ServerConfig& config, std::int32_t port);
void log_listening(const std::string& protocol, std::uint16_t port, const config::ServerConfig& config,
                   const Access& access, launch::Log& log);

}  // namespace trireme::server
