// Api: what the handlers of all routes share.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "launch/log.h"
#include "launch/server/core/access.h"
#include "launch/server/core/endpoint.h"
#include "launch/server/http/exchange.h"
#include "launch/server/http/router.h"
#include "launch/server/metrics/metrics.h"
#include "runtime/config/config.h"

namespace trireme::http {

using server::Served;

struct Api {
  const config::ServerConfig& config;
  const server::Access& access;
  server::Metrics& metrics;
  launch::Log& log;
  std::atomic<const Served*> served{nullptr};  // null: loading

  const Served* now() const { return served.load(std::memory_order_acquire); }
  // A client that did not read is given up.
  void dropped(const std::string& reason) {
    metrics.on_error("http", "slow_client");
    log.warn(reason + ": its connection is closed");
  }
};

// Each adds its routes; `api` outlives the router.
void add_status_routes(Api& api, Router& router);      // health, version, metrics, models
void add_tokenize_routes(Api& api, Router& router);    // text to tokens and back
void add_completion_routes(Api& api, Router& router);  // completions and chat
void add_dashboard_route(Router& router);              // the page that people see

}  // namespace trireme::http
