#include "launch/output_file.h"

#include <utility>

namespace trireme::launch {

OutputFile::OutputFile(std::string option, std::string path) : option_(std::move(option)), path_(std::move(path)) {}

base::Status OutputFile::open() {
  if (path_.empty()) return base::ok_status();
  stream_.open(path_, std::ios::trunc);
  if (stream_) return base::ok_status();
  return base::invalid_argument(option_ + " " + path_ + ": cannot be written");
}

base::Status OutputFile::write(const std::string& text) {
  if (path_.empty() || (stream_ << text << std::flush)) return base::ok_status();
  return base::resource_exhausted(option_ + " " + path_ + ": writing failed");
}

}  // namespace trireme::launch
