// Reads an output from an earlier start: which lines have their row, and where the good rows end.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "launch/batch/journal.h"
#include "launch/batch/line_set.h"

namespace trireme::launch {

struct OutputScan {
  LineSet done;
  DurableRows good;  // up to the first row that is torn
  std::uint64_t num_error_rows = 0;
};

// Rows that the journal knows to be durable must be there; behind them the first row that is not whole ends what is
// good, since a crash of the machine may leave anything. Error: a durable row is damaged or missing.
base::Result<OutputScan> scan_output(const std::string& path, const DurableRows& durable, std::uint64_t num_lines);

}  // namespace trireme::launch
