// The Thrift endpoint: the service of trireme.thrift, framed and compact.
#pragma once

#include <memory>

#include "base/result.h"
#include "launch/server/network/network_endpoint.h"

namespace trireme::server {

// Listens at once; what it refers to outlives it. Errors: an address in use, a bad certificate.
base::Result<std::unique_ptr<NetworkEndpoint>> open_thrift_endpoint(const EndpointParts& parts);

}  // namespace trireme::server
