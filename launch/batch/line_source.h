// LineSource: reads, checks and tokenizes the input on a thread of its own, a bounded way ahead of the engine, so that
// neither a slow file nor a long prompt holds up the steps.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>

#include "base/result.h"
#include "launch/batch/batch_line.h"
#include "launch/batch/bounded_queue.h"
#include "launch/batch/line_reader.h"
#include "launch/batch/line_set.h"
#include "launch/request_spec.h"
#include "scheduler/request.h"

namespace trireme::launch {

// A line that has no row yet.
struct PreparedLine {
  RowIdentity identity;
  std::variant<scheduler::Request, RequestError> request;
};

struct LineSourceInput {
  LineReader reader;
  std::uint64_t num_lines = 0;  // so many at most; what was appended since then is left alone
  BatchLineParser parser;
  const LineSet* done = nullptr;          // lines to pass over; outlives the source
  const RequestBinder* binder = nullptr;  // likewise
};

class LineSource {
 public:
  // `warn` is told of fields that no request has, once per name, on the source's thread.
  LineSource(LineSourceInput input, std::function<void(const std::string&)> warn);
  // Ends the thread, wherever it is.
  ~LineSource();
  LineSource(const LineSource&) = delete;
  LineSource& operator=(const LineSource&) = delete;

  // The next line in order; nothing if none is ready. Never waits.
  std::optional<PreparedLine> try_next() { return queue_.try_pop(); }
  // All lines have been taken, or reading has failed.
  bool is_drained() const { return queue_.is_drained(); }
  // Once drained: why reading ended early.
  base::Status status() const { return status_; }

 private:
  void run();
  base::Status read_all();
  PreparedLine prepare(BatchLine line);
  void note_unknown(const BatchLine& line);

  LineSourceInput input_;
  const std::function<void(const std::string&)> warn_;
  std::set<std::string> noted_fields_;  // of the source's thread
  BoundedQueue<PreparedLine> queue_;
  base::Status status_ = base::ok_status();  // written before the queue is closed
  std::thread thread_;
};

}  // namespace trireme::launch
