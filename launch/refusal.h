// How a command ends that refuses its input.
#pragma once

#include "base/result.h"
#include "launch/command.h"

namespace trireme::launch {

// Logs the error, on rank 0 alone; returns, on every rank, the exit code that says whose fault it is.
int refuse(const CommandContext& context, const base::Error& error);

}  // namespace trireme::launch
