#include "launch/batch/line_reader.h"

#include <fcntl.h>

#include <cstring>

namespace trireme::launch {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

base::Result<LineReader> LineReader::open(const std::string& path, std::size_t max_line_bytes) {
  auto file = FileHandle::open(path, O_RDONLY);
  if (!file) return file.error();
  LineReader reader(std::move(file).value(), path, max_line_bytes);
  reader.buffer_.resize(kBufferBytes);
  return reader;
}

base::Result<bool> LineReader::fill() {
  const auto count = file_.read(buffer_);
  if (!count) return count.error();
  begin_ = 0;
  end_ = *count;
  return *count > 0;
}

void LineReader::take(std::string_view part, InputLine& line) const {
  if (line.is_too_long) return;
  if (line.text.size() + part.size() <= max_line_bytes_) {
    line.text += part;
    return;
  }
  line.is_too_long = true;
  line.text = {};  // gives the memory back
}

base::Result<bool> LineReader::next(InputLine& line) {
  line.text.clear();
  line.is_too_long = false;
  bool begun = false;
  while (true) {
    if (begin_ == end_) {
      const auto filled = fill();
      if (!filled) return filled.error();
      if (!*filled) break;
    }
    begun = true;
    const char* from = buffer_.data() + begin_;
    const auto* found = static_cast<const char*>(std::memchr(from, '\n', end_ - begin_));
    const std::size_t count = found == nullptr ? end_ - begin_ : static_cast<std::size_t>(found - from);
    take({from, count}, line);
    begin_ += count;
    if (found == nullptr) continue;
    ++begin_;
    break;
  }
  if (!begun) return false;
  line.number = ++number_;
  if (line.text.ends_with('\r')) line.text.pop_back();
  if (line.number == 1 && line.text.starts_with(kByteOrderMark)) line.text.erase(0, kByteOrderMark.size());
  return true;
}

}  // namespace trireme::launch
