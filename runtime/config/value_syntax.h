// How values are spelled: the same in the file, in the environment and on the command line. Pure functions; what is
// accepted is written back by the format_ functions in one canonical spelling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trireme::config {

// What a whole number counts, which decides the suffixes that it may carry.
enum class Unit {
  kCount,         // k, m, g: powers of 1000; K, M, G: powers of 1024
  kBytes,         // B, kB, MB, GB, TB: powers of 1000; KiB, MiB, GiB, TiB: powers of 1024
  kMilliseconds,  // ms, s, min
};

// A non-negative whole number with an optional suffix ("512", "4k", "1.5GiB", "30s"). A fraction is accepted where the
// result is whole. Errors say what was expected; they do not name the key.
base::Result<std::int64_t> parse_whole_number(std::string_view text, Unit unit);
std::string format_whole_number(std::int64_t value, Unit unit);

// A finite decimal number ("0.2", "1e-3").
base::Result<double> parse_real_number(std::string_view text);
std::string format_real_number(double value);

base::Result<bool> parse_boolean(std::string_view text);  // true or false

// Whole numbers with commas between, "10,20"; an empty text is an empty list.
base::Result<std::vector<std::int64_t>> parse_list(std::string_view text);

// True if the bytes are UTF-8 without control characters other than those in `allowed`; otherwise `bad_offset` is where
// the first other byte lies.
bool is_plain_utf8(std::string_view text, std::string_view allowed, std::size_t& bad_offset);

}  // namespace trireme::config
