#include "runtime/config/value_syntax.h"

#include <utf8proc.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>

namespace trireme::config {
namespace {

struct Suffix {
  std::string_view text;
  std::int64_t factor;
};

constexpr std::int64_t kKibi = 1024, kMebi = kKibi * 1024, kGibi = kMebi * 1024, kTebi = kGibi * 1024;

// In descending order of factor, so that formatting picks the largest that divides.
constexpr std::array kCountSuffixes = {Suffix{"G", kGibi},     Suffix{"g", 1'000'000'000}, Suffix{"M", kMebi},
                                       Suffix{"m", 1'000'000}, Suffix{"K", kKibi},         Suffix{"k", 1000}};
constexpr std::array kByteSuffixes = {
    Suffix{"TiB", kTebi}, Suffix{"TB", 1'000'000'000'000}, Suffix{"GiB", kGibi}, Suffix{"GB", 1'000'000'000},
    Suffix{"MiB", kMebi}, Suffix{"MB", 1'000'000},         Suffix{"KiB", kKibi}, Suffix{"kB", 1000},
    Suffix{"B", 1}};
constexpr std::array kTimeSuffixes = {Suffix{"min", 60'000}, Suffix{"s", 1000}, Suffix{"ms", 1}};

std::span<const Suffix> suffixes_of(Unit unit) {
  switch (unit) {
    case Unit::kCount: return kCountSuffixes;
    case Unit::kBytes: return kByteSuffixes;
    case Unit::kMilliseconds: return kTimeSuffixes;
  }
  return {};
}

std::string_view expectation(Unit unit) {
  switch (unit) {
    case Unit::kCount: return "expected a whole number, such as 512, 4k (4000) or 4K (4096)";
    case Unit::kBytes: return "expected a number of bytes, such as 16384, 512MiB or 16GiB";
    case Unit::kMilliseconds: return "expected a time in milliseconds, or with a unit, such as 500ms, 30s or 2min";
  }
  return {};
}

// Length of the leading digits with at most one point among them.
std::size_t number_length(std::string_view text) {
  std::size_t length = 0;
  bool point = false;
  for (; length < text.size(); ++length) {
    const char c = text[length];
    if (c == '.' && !point && length > 0) {
      point = true;
    } else if (c < '0' || c > '9') {
      break;
    }
  }
  return length;
}

}  // namespace

base::Result<std::int64_t> parse_whole_number(std::string_view text, Unit unit) {
  const base::Error error = base::invalid_argument(std::string(expectation(unit)));
  if (text.size() > 1 && text[0] == '-' && text[1] != '-') {
    const base::Result<std::int64_t> positive = parse_whole_number(text.substr(1), unit);
    if (!positive) return positive.error();
    return -*positive;
  }
  const std::string_view digits = text.substr(0, number_length(text));
  const std::string_view suffix = text.substr(digits.size());
  std::int64_t factor = suffix.empty() ? 1 : 0;
  for (const Suffix& candidate : suffixes_of(unit)) {
    if (candidate.text == suffix) factor = candidate.factor;
  }
  if (digits.empty() || factor == 0) return error;

  std::int64_t whole = 0;
  const char* end = digits.data() + digits.size();
  const auto integer = std::from_chars(digits.data(), end, whole);
  if (integer.ec == std::errc{} && integer.ptr == end) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(whole, factor, &product)) return base::invalid_argument("the number is too large");
    return product;
  }
  if (integer.ec == std::errc::result_out_of_range) return base::invalid_argument("the number is too large");
  double value = 0.0;
  const auto real = std::from_chars(digits.data(), end, value, std::chars_format::fixed);
  if (real.ec != std::errc{} || real.ptr != end) return error;
  value *= static_cast<double>(factor);
  if (value >= 0x1p63) return base::invalid_argument("the number is too large");
  if (value != std::floor(value) || suffix.empty()) return error;
  return static_cast<std::int64_t>(value);
}

std::string format_whole_number(std::int64_t value, Unit unit) {
  if (unit == Unit::kBytes && value != 0) {
    for (const Suffix& suffix : suffixes_of(unit)) {
      const bool binary = suffix.text.size() == 3;
      if (binary && value % suffix.factor == 0) {
        return std::to_string(value / suffix.factor) + std::string(suffix.text);
      }
    }
  }
  return std::to_string(value);
}

base::Result<double> parse_real_number(std::string_view text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !std::isfinite(value)) {
    return base::invalid_argument("expected a number, such as 0.2");
  }
  return value;
}

std::string format_real_number(double value) {
  std::array<char, 64> buffer{};
  const auto written = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), written.ptr};
}

base::Result<bool> parse_boolean(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return base::invalid_argument("expected true or false");
}

base::Result<std::vector<std::int64_t>> parse_list(std::string_view text) {
  std::vector<std::int64_t> values;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const base::Result<std::int64_t> value = parse_whole_number(text.substr(0, comma), Unit::kCount);
    const bool ends_with_comma = comma != std::string_view::npos && comma + 1 == text.size();
    if (!value || ends_with_comma)
      return base::invalid_argument("expected whole numbers with commas between, such as 10,20");
    values.push_back(*value);
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return values;
}

bool is_plain_utf8(std::string_view text, std::string_view allowed, std::size_t& bad_offset) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  for (std::size_t offset = 0; offset < text.size();) {
    utf8proc_int32_t code_point = 0;
    const utf8proc_ssize_t length =
        utf8proc_iterate(bytes + offset, static_cast<utf8proc_ssize_t>(text.size() - offset), &code_point);
    const bool control = code_point < 0x20 || code_point == 0x7F;
    if (length <= 0 || (control && allowed.find(static_cast<char>(code_point)) == std::string_view::npos)) {
      bad_offset = offset;
      return false;
    }
    offset += static_cast<std::size_t>(length);
  }
  return true;
}

}  // namespace trireme::config
