#define XXH_INLINE_ALL
#include "launch/batch/input_scan.h"

#include <fcntl.h>
#include <xxhash.h>

#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "launch/batch/batch_line.h"
#include "launch/batch/file_handle.h"
#include "launch/batch/line_reader.h"

namespace trireme::launch {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

struct FreeState {
  void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
};

// Counts lines, of which only those up to the last with something in it matter.
class LineCounter {
 public:
  void add(std::string_view block) {
    while (!block.empty()) {
      const std::size_t newline = block.find('\n');
      const std::string_view part = block.substr(0, newline);
      if (part.find_first_not_of(" \t\r") != std::string_view::npos) last_in_use_ = current_;
      if (newline == std::string_view::npos) return;
      ++current_;
      block.remove_prefix(newline + 1);
    }
  }
  std::uint64_t count() const { return last_in_use_; }

 private:
  std::uint64_t current_ = 1, last_in_use_ = 0;
};

base::Status count_and_hash(const std::string& path, InputScan& scan) {
  const auto file = FileHandle::open(path, O_RDONLY);
  if (!file) return file.error();
  const std::unique_ptr<XXH3_state_t, FreeState> hash(XXH3_createState());
  if (hash == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(hash.get());
  LineCounter lines;
  std::vector<char> block(kBlockBytes);
  while (true) {
    const auto count = file->read(block);
    if (!count) return count.error();
    if (*count == 0) break;
    XXH3_64bits_update(hash.get(), block.data(), *count);
    lines.add({block.data(), *count});
    scan.num_bytes += *count;
  }
  scan.fingerprint = XXH3_64bits_digest(hash.get());
  scan.num_lines = lines.count();
  return base::ok_status();
}

base::Status find_form(const std::string& path, InputScan& scan) {
  auto reader = LineReader::open(path);
  if (!reader) return reader.error();
  InputLine line;
  while (true) {
    const auto more = reader->next(line);
    if (!more) return more.error();
    if (!*more) return base::ok_status();
    if (const auto form = form_of_line(line)) {
      scan.form = *form;
      return base::ok_status();
    }
  }
}

}  // namespace

base::Result<InputScan> scan_input(const std::string& path) {
  InputScan scan;
  if (auto status = count_and_hash(path, scan); !status) return status.error();
  if (auto status = find_form(path, scan); !status) return status.error();
  return scan;
}

}  // namespace trireme::launch
