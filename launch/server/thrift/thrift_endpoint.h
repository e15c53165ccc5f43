// The Thrift endpoint: the service of trireme.thrift, framed and compact.
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

struct ThriftEndpointParts {
  const config::ServerConfig& config;
  const Access& access;
  Metrics& metrics;
  launch::Log& log;
};

class ThriftEndpoint : public Endpoint {
 public:
  virtual std::uint16_t port() const = 0;
};

// Listens at once; what it refers to outlives it. Errors: an address in use, a bad certificate.
base::Result<std::unique_ptr<ThriftEndpoint>> open_thrift_endpoint(const ThriftEndpointParts& parts);

}  // namespace trireme::server
