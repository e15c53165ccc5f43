// What the configuration says of the service, in the service's own terms.
#pragma once

#include <cstddef>
#include <cstdint>

#include "launch/server/core/request_service.h"
#include "runtime/config/config.h"
#include "scheduler/batching_policy.h"

namespace trireme::server {

ServiceLimits service_limits(const config::ServerConfig& config, std::size_t num_tenants);

// How a server admits requests. `max_batch`: sequences that may run, as planned at the start.
scheduler::BatchingPolicy batching_policy(const config::SchedulerConfig& config, std::int32_t max_batch);

}  // namespace trireme::server
