// LineSet: which lines of the input have their row: one bit each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace trireme::launch {

class LineSet {
 public:
  LineSet() = default;
  explicit LineSet(std::uint64_t num_lines)
      : num_lines_(num_lines), words_(static_cast<std::size_t>(num_lines / 64 + 1)) {}

  // Lines are counted from 1; those beyond the last are never in the set.
  bool contains(std::uint64_t line) const {
    return line >= 1 && line <= num_lines_ && (words_[line / 64] >> (line % 64) & 1u) != 0;
  }
  // False if the line is in the set already, or cannot be.
  bool insert(std::uint64_t line) {
    if (line < 1 || line > num_lines_ || contains(line)) return false;
    words_[line / 64] |= std::uint64_t{1} << (line % 64);
    ++count_;
    return true;
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint64_t num_lines_ = 0, count_ = 0;
  std::vector<std::uint64_t> words_ = {0};
};

}  // namespace trireme::launch
