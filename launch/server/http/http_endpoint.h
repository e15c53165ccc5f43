// The HTTP endpoint: OpenAI's completions and chat, and what stands around them.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "launch/log.h"
#include "launch/server/core/access.h"
#include "launch/server/core/endpoint.h"
#include "launch/server/metrics/metrics.h"
#include "runtime/config/config.h"

namespace trireme::server {

struct HttpEndpointParts {
  const config::ServerConfig& config;
  const Access& access;
  Metrics& metrics;
  launch::Log& log;
};

class HttpEndpoint : public Endpoint {
 public:
  virtual std::uint16_t port() const = 0;
};

// Listens at once; what it refers to outlives it. Errors: an address in use, a bad certificate.
base::Result<std::unique_ptr<HttpEndpoint>> open_http_endpoint(const HttpEndpointParts& parts);

}  // namespace trireme::server
