#include "runtime/tokenizer/precompiled_charsmap.h"

#include <utf8proc.h>

#include <cstring>
#include <utility>

#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

constexpr std::size_t kMaxClusterBytes = 5;

int base64_digit(char character) {
  if (character >= 'A' && character <= 'Z') return character - 'A';
  if (character >= 'a' && character <= 'z') return character - 'a' + 26;
  if (character >= '0' && character <= '9') return character - '0' + 52;
  if (character == '+') return 62;
  return character == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int num_bits = 0;
  for (const char character : text) {
    const int digit = base64_digit(character);
    if (digit < 0) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes += static_cast<char>(bits >> num_bits & 0xFF);
  }
  return bytes;
}

// One unit of the double array.
bool has_leaf(std::uint32_t unit) {
  return (unit >> 8 & 1) != 0;
}
std::uint32_t value_of(std::uint32_t unit) {
  return unit & 0x7FFFFFFF;
}
std::uint32_t label_of(std::uint32_t unit) {
  return unit & 0x800000FF;
}
std::uint32_t offset_of(std::uint32_t unit) {
  return unit >> 10 << ((unit & 0x200) >> 6);
}

}  // namespace

base::Result<PrecompiledCharsmap> PrecompiledCharsmap::parse_base64(std::string_view text) {
  const auto bytes = from_base64(text);
  if (!bytes) return base::invalid_argument("precompiled_charsmap is not base64");
  return parse(*bytes);
}

base::Result<PrecompiledCharsmap> PrecompiledCharsmap::parse(std::string_view bytes) {
  std::uint32_t trie_bytes = 0;
  if (bytes.size() < sizeof trie_bytes) return base::invalid_argument("precompiled_charsmap is too short");
  std::memcpy(&trie_bytes, bytes.data(), sizeof trie_bytes);
  const std::string_view rest = bytes.substr(sizeof trie_bytes);
  if (trie_bytes > rest.size() || trie_bytes % sizeof(std::uint32_t) != 0 || trie_bytes == 0) {
    return base::invalid_argument("precompiled_charsmap: the size of its trie is wrong");
  }
  std::vector<std::uint32_t> trie(trie_bytes / sizeof(std::uint32_t));
  std::memcpy(trie.data(), rest.data(), trie_bytes);
  std::string texts(rest.substr(trie_bytes));
  if (find_invalid_utf8(texts)) return base::invalid_argument("precompiled_charsmap is not valid UTF-8");
  return PrecompiledCharsmap(std::move(trie), std::move(texts));
}

bool PrecompiledCharsmap::is_sound() const {
  if (!texts_.ends_with('\0')) return false;
  std::vector<bool> seen(trie_.size(), false);
  std::vector<std::size_t> pending = {0};
  seen[0] = true;
  while (!pending.empty()) {
    const std::size_t node = pending.back();
    pending.pop_back();
    const std::size_t base = node ^ offset_of(trie_[node]);
    if ((base | 0xFF) >= trie_.size()) return false;  // where a byte that the trie does not have leads too
    if (has_leaf(trie_[node]) && value_of(trie_[base]) >= texts_.size()) return false;
    for (std::uint32_t label = 0; label < 256; ++label) {
      const std::size_t child = base ^ label;
      if (label_of(trie_[child]) != label || seen[child]) continue;
      seen[child] = true;
      pending.push_back(child);
    }
  }
  return true;
}

std::optional<std::string_view> PrecompiledCharsmap::replacement(std::string_view part) const {
  std::size_t node = offset_of(trie_[0]);
  for (const char byte : part) {
    const auto label = static_cast<unsigned char>(byte);
    node ^= label;
    if (label == 0 || node >= trie_.size() || label_of(trie_[node]) != label) return std::nullopt;
    const std::uint32_t unit = trie_[node];
    node ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    const std::size_t offset = node < trie_.size() ? value_of(trie_[node]) : texts_.size();
    const std::size_t end = offset < texts_.size() ? texts_.find('\0', offset) : std::string::npos;
    const bool whole = end != std::string::npos && (static_cast<unsigned char>(texts_[offset]) & 0xC0) != 0x80;
    return whole ? std::optional(std::string_view(texts_).substr(offset, end - offset)) : std::nullopt;
  }
  return std::nullopt;
}

void PrecompiledCharsmap::append_cluster(std::string_view cluster, std::string& output) const {
  if (cluster.size() <= kMaxClusterBytes) {
    if (const auto text = replacement(cluster)) {
      output += *text;
      return;
    }
  }
  while (!cluster.empty()) {
    const std::string_view character = cluster.substr(0, first_character(cluster).bytes);
    output += replacement(character).value_or(character);
    cluster.remove_prefix(character.size());
  }
}

std::string PrecompiledCharsmap::apply(std::string_view text) const {
  std::string result;
  result.reserve(text.size());
  std::size_t begin = 0;
  utf8proc_int32_t previous = 0, state = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Utf8Character character = first_character(text.substr(i));
    const auto code_point = static_cast<utf8proc_int32_t>(character.code_point);
    if (i > 0 && utf8proc_grapheme_break_stateful(previous, code_point, &state)) {
      append_cluster(text.substr(begin, i - begin), result);
      begin = i;
    }
    previous = code_point;
    i += character.bytes;
  }
  append_cluster(text.substr(begin), result);
  return result;
}

}  // namespace trireme::tokenizer
