// What the program's exit code says to scripts and schedulers.
#pragma once

#include "base/result.h"

namespace trireme::launch {

enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,      // the model cannot be loaded, memory does not suffice, a request failed, or a fault of ours
  kUsage = 2,        // command line, configuration or input is wrong: running again as it is will not help
  kUnfinished = 3,   // batch: ended early, by a signal or its time limit; running it again goes on with what is left
  kSomeFailed = 4,   // batch: every line has its row, but some rows tell of errors
  kForcedEnd = 143,  // serve: a second signal ended it before its requests (as a shell reports the end by SIGTERM)
  kRankLost = 75,    // a rank died or hung, or communication failed (EX_TEMPFAIL): running again may help
};

// For a request or input that was refused.
inline int exit_code_of(const base::Error& error) {
  const bool users = error.code == base::ErrorCode::kInvalidArgument || error.code == base::ErrorCode::kNotFound;
  return users ? kUsage : kFailure;
}

}  // namespace trireme::launch
