// ResultLog: a batch job's output and its journal. Rows are appended whole, in the order in which they finish; a job
// that starts again finds what is done, and cuts off what a kill has torn.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "launch/batch/file_handle.h"
#include "launch/batch/journal.h"
#include "launch/batch/line_set.h"

namespace trireme::launch {

enum class Existing { kGoOn, kOverwrite };  // what to do with an output that is there

class ResultLog {
 public:
  // Takes the output (locked against other jobs) and its journal, or creates them. Errors, each naming the file: not
  // writable, in use, not the output of a batch job, of another job (input, model or settings), damaged.
  static base::Result<ResultLog> open(const std::string& output, const JobDescription& job, std::uint64_t num_lines,
                                      Existing existing, std::int64_t now);

  // Found when opened.
  const LineSet& done() const { return done_; }
  std::uint64_t num_error_rows() const { return num_error_rows_; }
  std::uint64_t num_dropped_bytes() const { return num_dropped_bytes_; }
  std::int64_t created() const { return created_; }  // when the job began first; seconds since 1970
  const std::string& path() const { return output_.path(); }

  // `row` without its newline. Error: the row is not, or not wholly, in the file.
  base::Status append(std::uint64_t line, std::string_view row);
  // All rows so far are on the disk.
  base::Status sync();
  // What is, now.
  const DurableRows& durable() const { return durable_; }

 private:
  ResultLog(FileHandle output, Journal journal) : output_(std::move(output)), journal_(std::move(journal)) {}

  FileHandle output_;
  Journal journal_;
  LineSet done_;
  std::uint64_t num_error_rows_ = 0, num_dropped_bytes_ = 0;
  std::int64_t created_ = 0;
  DurableRows appended_, durable_;
};

}  // namespace trireme::launch
