// What the program's exit code says to scripts and schedulers.
#pragma once

namespace trireme::launch {

enum ExitCode : int {
  kSuccess = 0,
  kFailure = 1,    // the model cannot be loaded, memory does not suffice, a request failed, or a fault of ours
  kUsage = 2,      // command line, configuration or input is wrong: running again as it is will not help
  kRankLost = 75,  // a rank died or hung, or communication failed (EX_TEMPFAIL): running again may help
};

}  // namespace trireme::launch
