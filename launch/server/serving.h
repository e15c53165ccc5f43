// Serving: rank 0's part of `trireme serve` once the model is loaded: gives the service to the endpoints and drives the
// engine until it is told to stop.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/log.h"
#include "launch/server/core/endpoint.h"
#include "launch/server/core/service_observer.h"
#include "runtime/config/config.h"
#include "runtime/engine/rank_runtime.h"

namespace trireme::server {

struct ServingParts {
  const config::Config& config;
  std::vector<Endpoint*> endpoints;
  ServiceObserver& observer;
  std::size_t num_tenants = 1;
  std::function<int()> num_stop_signals;  // so far; asked every few milliseconds
  launch::Log& log;
};

// What the model is served as: the names of server.model_names, or that of its file. Error: an adapter has one of them,
// too.
base::Result<std::vector<std::string>> names_of_model(const config::Config& config);

enum class StopKind { kDrained, kForced };

// Returns once nothing is left to do: after one stop signal, what runs has until server.drain_limit_ms; after two it
// ends at once.
StopKind serve_until_stopped(engine::RankRuntime& runtime, const ServingParts& parts);

}  // namespace trireme::server
