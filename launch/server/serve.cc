// trireme serve: the pipeline as a service. Rank 0 opens the endpoints before the model is loaded, then drives the
// engine; the other ranks compute.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "launch/commands.h"
#include "launch/exit_codes.h"
#include "launch/log.h"
#include "launch/server/core/access.h"
#include "launch/server/http/http_endpoint.h"
#include "launch/server/metrics/metrics.h"
#include "launch/server/serving.h"
#include "launch/server/thrift/thrift_endpoint.h"
#include "launch/session.h"
#include "launch/stop_signals.h"
#include "runtime/engine/agreement.h"

namespace trireme::launch {
namespace {

// Every connection is a file descriptor; many systems allow 1,024 unless asked.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// What rank 0 has open before there is a model.
struct FrontEnd {
  server::Access access;
  std::unique_ptr<server::Metrics> metrics;
  std::vector<std::unique_ptr<server::Endpoint>> endpoints;
};

base::Status open_front_end(const CommandContext& context, FrontEnd& front) {
  const config::ServerConfig& config = context.config.config.server;
  const auto names = server::names_of_model(context.config.config);
  if (!names) return names.error();
  raise_file_limit();
  if (!config.api_keys.empty()) {
    auto access = server::Access::from_file(config.api_keys);
    if (!access) return access.error();
    front.access = std::move(access).value();
  }
  front.metrics = std::make_unique<server::Metrics>(config.metrics_compat_vllm);
  auto http = server::open_http_endpoint({config, front.access, *front.metrics, context.log});
  if (!http) return http.error();
  front.endpoints.push_back(std::move(http).value());
  if (config.thrift_port < 0) return base::ok_status();
  auto thrift = server::open_thrift_endpoint({config, front.access, *front.metrics, context.log});
  if (!thrift) return thrift.error();
  front.endpoints.push_back(std::move(thrift).value());
  return base::ok_status();
}

int serve_model(const CommandContext& context, FrontEnd& front, engine::RankRuntime& runtime) {
  StopSignals signals;
  int num_signals = 0;
  const auto count_signals = [&] {
    while (signals.poll()) ++num_signals;
    return num_signals;
  };
  std::vector<server::Endpoint*> endpoints;
  for (const auto& endpoint : front.endpoints) endpoints.push_back(endpoint.get());
  const server::ServingParts parts{.config = context.config.config,
                                   .endpoints = endpoints,
                                   .observer = *front.metrics,
                                   .num_tenants = front.access.num_tenants(),
                                   .num_stop_signals = count_signals,
                                   .log = context.log};
  return server::serve_until_stopped(runtime, parts) == server::StopKind::kForced ? kForcedEnd : kSuccess;
}

int serve(const CommandContext& context) {
  FrontEnd front;
  const auto open = [&] { return context.is_root() ? open_front_end(context, front) : base::ok_status(); };
  if (const auto status = engine::agree(context.world, engine::attempt(open)); !status) {
    if (context.is_root()) context.log.error(status.error().message);
    return kUsage;
  }
  // Signals that mpirun passes on to all ranks are for rank 0 to heed, which ends the others in good order.
  return run_session(context, [&](engine::RankRuntime& runtime) { return serve_model(context, front, runtime); });
}

}  // namespace

CommandFunction define_serve(CLI::App&) {
  return serve;
}

}  // namespace trireme::launch
