// Journal: the file beside a batch job's output that lets the job go on after it was killed. It says what the rows of
// the output depend on, written once and whole, and how much of the output is known to be on the disk, rewritten in
// place after every sync. What is done is not in it: the rows themselves say that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "launch/batch/file_handle.h"

namespace trireme::launch {

// What must be the same when a job goes on.
struct JobDescription {
  std::uint64_t input_bytes = 0;
  std::uint64_t input_fingerprint = 0;
  std::uint64_t model_fingerprint = 0;
  std::vector<std::pair<std::string, std::string>> settings;  // name and value of each that changes results
};

// The first difference, as a user would name it; empty if there is none.
std::string difference(const JobDescription& before, const JobDescription& now);

// What is on the disk, whatever happens.
struct DurableRows {
  std::uint64_t num_bytes = 0;
  std::uint64_t num_rows = 0;
  std::uint64_t last_line = 0;  // of the input, that the last of these rows answers
};

struct JournalContents {
  JobDescription job;
  std::int64_t created = 0;  // seconds since 1970
  DurableRows durable;
};

class Journal {
 public:
  static std::string path_for(const std::string& output) { return output + ".journal"; }

  // Nothing if there is none. Error: it cannot be read, or is none of ours.
  static base::Result<std::optional<JournalContents>> read(const std::string& path);
  // Replaces what is there: after a kill at any point there is the old one or the new one, whole.
  static base::Result<Journal> create(const std::string& path, const JournalContents& contents);
  // To go on with the one that read() has read.
  static base::Result<Journal> reopen(const std::string& path);
  static base::Status remove(const std::string& path);

  // What it says may be less than what is on the disk, never more: call it after the output was synced.
  base::Status set_durable(const DurableRows& durable) const;

 private:
  Journal(FileHandle file, std::uint64_t record_offset) : file_(std::move(file)), record_offset_(record_offset) {}

  FileHandle file_;
  std::uint64_t record_offset_;
};

}  // namespace trireme::launch
