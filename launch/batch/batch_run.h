// BatchRun: rank 0's loop of a batch job: lines go into the engine as fast as it takes them, over all replicas, and
// rows come out as they finish.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "launch/batch/batch_report.h"
#include "launch/batch/line_source.h"
#include "launch/batch/progress.h"
#include "launch/batch/row_writer.h"
#include "launch/batch/stop_policy.h"
#include "launch/stop_signals.h"
#include "runtime/engine/rank_runtime.h"

namespace trireme::launch {

enum class BatchEnd {
  kComplete,  // every line has its row
  kStopped,   // told to end, or out of time
  kFailed,    // the input cannot be read, or the output not be written
};

// What a run works with; all outlive it.
struct BatchParts {
  engine::RankRuntime* runtime = nullptr;
  LineSource* source = nullptr;
  RowWriter* writer = nullptr;
  StopPolicy* stop = nullptr;
  StopSignals* signals = nullptr;
  Progress* progress = nullptr;
  BatchTotals* totals = nullptr;  // of the lines before; the run adds its own
};

class BatchRun {
 public:
  explicit BatchRun(const BatchParts& parts);

  // Returns with the engine idle; the rows are pushed, not yet all written.
  BatchEnd run();

 private:
  using Clock = std::chrono::steady_clock;
  // One line in the engine.
  struct Flight {
    RowIdentity identity;
    FinishedRequest work;
    std::size_t num_unfinished = 0;
    scheduler::RequestId id;
    Clock::time_point submitted, first_token;
    std::size_t num_tokens = 0;
  };

  void admit(Clock::time_point now);
  void submit(PreparedLine line, Clock::time_point now);
  void refuse(RowIdentity identity, RequestError error);
  void collect(Flight& flight, const engine::GenerationEvent& event);
  void land_finished();
  void give_up_flights();
  bool has_room() const;
  StopPolicy::Phase look_for_stop(Clock::time_point now);
  ProgressPoint progress_point() const;

  const BatchParts parts_;
  const std::size_t max_sequences_;                                     // in the engine, running or waiting
  std::unordered_map<std::uint64_t, std::unique_ptr<Flight>> flights_;  // by line
  std::vector<std::uint64_t> finished_;                                 // lines whose flight has ended during this turn
  std::size_t num_sequences_ = 0;
  std::size_t num_prompt_tokens_ = 0;  // of all flights
  std::uint64_t num_tokens_ = 0;       // generated
};

}  // namespace trireme::launch
