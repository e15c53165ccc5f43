// Session: from an agreed configuration to a running pipeline and back. Watches over the ranks (heartbeat) from before
// the model is loaded until all have ended.
#pragma once

#include <functional>

#include "launch/command.h"
#include "runtime/engine/rank_runtime.h"

namespace trireme::launch {

// Runs on rank 0 with the pipeline ready; returns an ExitCode. The engine must be idle when it returns.
using SessionBody = std::function<int(engine::RankRuntime&)>;

// What every session needs: a model, and limits that make sense together.
base::Status check_session(const config::Config& config);

// Collective over all ranks: starts the pipeline, runs `body` on rank 0 while the others serve, and ends it. Errors of
// the start are logged once, by rank 0. What ends the job later (exceptions) goes on to rank_main.
int run_session(const CommandContext& context, const SessionBody& body);

}  // namespace trireme::launch
