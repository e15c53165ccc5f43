// The HTTP endpoint: OpenAI's completions and chat, and what stands around them.
#pragma once

#include <memory>

#include "base/result.h"
#include "launch/server/network/network_endpoint.h"

namespace trireme::server {

// Listens at once; what it refers to outlives it. Errors: an address in use, a bad certificate.
base::Result<std::unique_ptr<NetworkEndpoint>> open_http_endpoint(const EndpointParts& parts);

}  // namespace trireme::server
