// RowWriter: makes rows of finished requests and appends them on a thread of its own, since writing and syncing may
// take long. Rows are synced in groups: after a second, or a thousand rows.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/result.h"
#include "launch/batch/bounded_queue.h"
#include "launch/batch/output_row.h"
#include "launch/batch/result_log.h"

namespace trireme::launch {

struct FinishedRequest {
  scheduler::Request request;
  std::vector<engine::Generation> choices;
};

// What becomes a row.
struct FinishedLine {
  RowIdentity identity;
  std::variant<FinishedRequest, RequestError> outcome;
};

class RowWriter {
 public:
  // `log` outlives this, and is this thread's alone until finish() has returned.
  RowWriter(ResultLog& log, RowContext context);
  ~RowWriter();
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  void push(FinishedLine line);  // never waits
  // So much waits to be written that no more should be started.
  bool is_behind() const { return queue_.is_full(); }
  // Writing has failed; finish() says why. Nothing is written any more.
  bool has_failed() const { return failed_.load(); }

  // No more rows will be pushed; does not wait.
  void close() { queue_.close(); }
  // Waits until everything is written and synced. Error: names the file, why, and the last row that is durable.
  base::Status finish();

 private:
  void run();
  base::Status write_all();
  base::Status write(const FinishedLine& line);
  base::Error with_last_row(const base::Error& error) const;

  ResultLog& log_;
  const RowContext context_;
  BoundedQueue<FinishedLine> queue_;
  std::atomic<bool> failed_{false};
  base::Status status_ = base::ok_status();  // the thread's until it has ended
  std::thread thread_;
};

}  // namespace trireme::launch
