#include "launch/batch/result_log.h"

#include <fcntl.h>

#include <utility>

#include "launch/batch/output_row.h"
#include "launch/batch/output_scan.h"

namespace trireme::launch {
namespace {

constexpr const char* kBeginAnew = "; name another output, or give --overwrite to begin anew";

// Nothing of an earlier job is left after this; a kill in between leaves an output without a journal, or an empty one.
base::Status clear(const FileHandle& output, const std::string& journal) {
  if (auto status = Journal::remove(journal); !status) return status;
  if (auto status = output.truncate(0); !status) return status;
  return output.sync();
}

// The journal of the job that goes on here; nothing if one begins.
base::Result<std::optional<JournalContents>> earlier_job(const FileHandle& output, const JobDescription& job) {
  const auto size = output.size();
  if (!size) return size.error();
  auto contents = Journal::read(Journal::path_for(output.path()));
  if (!contents) return contents.error();
  if (!*contents && *size == 0) return std::optional<JournalContents>();
  if (!*contents) {
    return base::invalid_argument(output.path() + ": is not empty, and there is no journal of a batch job beside it" +
                                  kBeginAnew);
  }
  // As long as nothing was done, anything may change.
  if (*size == 0 && (*contents)->durable.num_bytes == 0) return std::optional<JournalContents>();
  const std::string other = difference((*contents)->job, job);
  if (other.empty()) return contents;
  return base::invalid_argument(output.path() + ": its rows are of a job with " + other + kBeginAnew);
}

}  // namespace

base::Result<ResultLog> ResultLog::open(const std::string& path, const JobDescription& job, std::uint64_t num_lines,
                                        Existing existing, std::int64_t now) {
  auto output = FileHandle::open(path, O_RDWR | O_CREAT | O_APPEND);
  if (!output) return output.error();
  if (!output->try_lock()) return base::invalid_argument(path + ": another batch job is writing it");
  const std::string journal_path = Journal::path_for(path);
  if (existing == Existing::kOverwrite) {
    if (auto status = clear(*output, journal_path); !status) return status.error();
  }
  const auto earlier = earlier_job(*output, job);
  if (!earlier) return earlier.error();
  auto journal = *earlier ? Journal::reopen(journal_path) : Journal::create(journal_path, {job, now, {}});
  if (!journal) return journal.error();
  const auto scan = scan_output(path, *earlier ? (*earlier)->durable : DurableRows{}, num_lines);
  if (!scan) return scan.error();
  const auto size = output->size();
  if (!size) return size.error();
  ResultLog log(std::move(output).value(), std::move(journal).value());
  log.done_ = scan->done;
  log.num_error_rows_ = scan->num_error_rows;
  log.num_dropped_bytes_ = *size - scan->good.num_bytes;
  log.created_ = *earlier ? (*earlier)->created : now;
  log.appended_ = scan->good;
  if (log.num_dropped_bytes_ > 0) {
    if (auto status = log.output_.truncate(scan->good.num_bytes); !status) return status.error();
  }
  if (auto status = log.sync(); !status) return status.error();
  return log;
}

base::Status ResultLog::append(std::uint64_t line, std::string_view row) {
  std::string text(row);
  text += '\n';
  if (auto status = output_.write_all(text); !status) {
    (void)output_.truncate(appended_.num_bytes);  // as well as it can be; the next start cuts it off all the same
    return status;
  }
  appended_ = {appended_.num_bytes + text.size(), appended_.num_rows + 1, line};
  return base::ok_status();
}

base::Status ResultLog::sync() {
  if (auto status = output_.sync(); !status) return status;
  durable_ = appended_;
  return journal_.set_durable(durable_);
}

}  // namespace trireme::launch
