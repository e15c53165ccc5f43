// LineReader: the lines of a file, one after the other, in bounded memory. A line ends with LF or CR LF, the last one
// also with the end of the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/batch/file_handle.h"

namespace trireme::launch {

struct InputLine {
  std::uint64_t number = 0;  // from 1
  std::string text;
  bool is_too_long = false;  // then `text` is empty

  bool is_blank() const { return !is_too_long && text.find_first_not_of(" \t\r") == std::string::npos; }
};

class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = std::size_t{32} << 20;

  // Takes a regular file; a byte order mark at its begin is skipped.
  static base::Result<LineReader> open(const std::string& path, std::size_t max_line_bytes = kMaxLineBytes);

  // Reuses the memory of `line`. False at the end of the file. Error: reading failed.
  base::Result<bool> next(InputLine& line);

 private:
  LineReader(FileHandle file, std::string path, std::size_t max_line_bytes)
      : file_(std::move(file)), path_(std::move(path)), max_line_bytes_(max_line_bytes) {}
  base::Result<bool> fill();
  void take(std::string_view part, InputLine& line) const;

  FileHandle file_;
  std::string path_;
  std::size_t max_line_bytes_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is not yet taken
  std::uint64_t number_ = 0;
};

}  // namespace trireme::launch
