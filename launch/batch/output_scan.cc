#include "launch/batch/output_scan.h"

#include <fcntl.h>

#include <cstddef>
#include <string_view>
#include <vector>

#include "launch/batch/file_handle.h"
#include "launch/batch/output_row.h"

namespace trireme::launch {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// Takes rows one by one until one is not good.
class RowTaker {
 public:
  RowTaker(const DurableRows& durable, OutputScan& scan) : durable_(durable), scan_(scan) {}

  // `row` with its newline. False: this row and all behind it do not count.
  bool take(std::string_view row) {
    const std::string_view text = row.substr(0, row.size() - 1);
    const bool known = scan_.good.num_bytes + row.size() <= durable_.num_bytes;
    const auto line = line_of_row(text);
    // What was synced needs no second look at every byte of it.
    if (!line || !(known || is_whole_row(text)) || !scan_.done.insert(*line)) return false;
    if (is_error_row(text)) ++scan_.num_error_rows;
    scan_.good = {scan_.good.num_bytes + row.size(), scan_.good.num_rows + 1, *line};
    return true;
  }

 private:
  const DurableRows& durable_;
  OutputScan& scan_;
};

}  // namespace

base::Result<OutputScan> scan_output(const std::string& path, const DurableRows& durable, std::uint64_t num_lines) {
  const auto file = FileHandle::open(path, O_RDONLY);
  if (!file) return file.error();
  OutputScan scan;
  scan.done = LineSet(num_lines);
  RowTaker taker(durable, scan);
  std::vector<char> block(kBlockBytes);
  std::string rest;  // a row that has no end yet
  bool good = true;
  while (good) {
    const auto count = file->read(block);
    if (!count) return count.error();
    if (*count == 0) break;
    const std::size_t old = rest.size();
    rest.append(block.data(), *count);
    std::size_t begin = 0;
    for (std::size_t end = rest.find('\n', old); good && end != std::string::npos; end = rest.find('\n', begin)) {
      good = taker.take(std::string_view(rest).substr(begin, end + 1 - begin));
      begin = end + 1;
    }
    rest.erase(0, begin);
  }
  if (scan.good.num_bytes >= durable.num_bytes) return scan;
  return base::invalid_argument(path + ": row " + std::to_string(scan.good.num_rows + 1) + " (byte " +
                                std::to_string(scan.good.num_bytes) + ") was written before and is now damaged or " +
                                "missing; --overwrite begins anew");
}

}  // namespace trireme::launch
