// utf8proc's own utf8proc_decompose sorts combining marks by exchanging neighbours, in quadratic time: here each
// character is decomposed by it, the marks are sorted with std::stable_sort, and utf8proc composes.
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "runtime/tokenizer/normalizer.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

constexpr std::size_t kMaxDecomposition = 18;  // code points of one character, U+FDFA; UAX #15 promises no growth

int combining_class(std::int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

std::vector<std::int32_t> decompose(std::string_view text, utf8proc_option_t options) {
  std::vector<std::int32_t> code_points;
  code_points.reserve(text.size());
  std::array<std::int32_t, 2 * kMaxDecomposition> parts{};
  int boundary = 0;
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<std::int32_t>(character.code_point), parts.data(),
                                static_cast<utf8proc_ssize_t>(parts.size()), options, &boundary);
    TRIREME_CHECK(count >= 0 && count <= static_cast<utf8proc_ssize_t>(parts.size())) << count;
    code_points.insert(code_points.end(), parts.begin(), parts.begin() + count);
    text.remove_prefix(character.bytes);
  }
  return code_points;
}

// The canonical ordering algorithm (Unicode, D109): runs of characters with a combining class, sorted by it.
void order_marks(std::vector<std::int32_t>& code_points) {
  for (auto begin = code_points.begin(); begin != code_points.end();) {
    if (combining_class(*begin) == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, code_points.end(), [](std::int32_t c) { return combining_class(c) == 0; });
    std::stable_sort(begin, end,
                     [](std::int32_t a, std::int32_t b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

}  // namespace

std::string normalize_unicode(std::string_view text, UnicodeForm form) {
  if (std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) {
    return std::string(text);
  }
  const bool compatible = form == UnicodeForm::kNfkc || form == UnicodeForm::kNfkd;
  const int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  std::vector<std::int32_t> code_points = decompose(text, static_cast<utf8proc_option_t>(options));
  order_marks(code_points);
  if (form == UnicodeForm::kNfc || form == UnicodeForm::kNfkc) {
    const utf8proc_ssize_t length =
        utf8proc_normalize_utf32(code_points.data(), static_cast<utf8proc_ssize_t>(code_points.size()),
                                 static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    TRIREME_CHECK(length >= 0) << length;
    code_points.resize(static_cast<std::size_t>(length));
  }
  std::string result;
  result.reserve(text.size());
  for (const std::int32_t code_point : code_points) append_utf8(static_cast<char32_t>(code_point), result);
  return result;
}

}  // namespace trireme::tokenizer
