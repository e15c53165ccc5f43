#include "runtime/chat/jinja/text_edit.h"

#include <algorithm>

#include "runtime/chat/jinja/text_search.h"
#include "runtime/chat/jinja/utf8.h"

namespace trireme::chat::jinja {
namespace {

// The last character of a non-empty text.
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && text.size() - begin < 4 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  const std::string_view character = text.substr(begin);
  return characters(character).size() == 1 ? character : text.substr(text.size() - 1);
}

std::string_view first_character(std::string_view text) {
  return characters(text.substr(0, 4)).front();
}

}  // namespace

std::string_view strip(std::string_view text, const std::string* set, Side side) {
  const auto goes = [set](std::string_view character) {
    return set == nullptr ? is_space(first_code_point(character))
                          : find_text(*set, character) != std::string_view::npos;
  };
  while (side != Side::kRight && !text.empty() && goes(first_character(text))) {
    text.remove_prefix(first_character(text).size());
  }
  while (side != Side::kLeft && !text.empty() && goes(last_character(text))) {
    text.remove_suffix(last_character(text).size());
  }
  return text;
}

Value replace_text(RenderContext& context, std::string_view text, std::string_view old, std::string_view replacement,
                   std::int64_t max_count) {
  context.charge_bytes(text.size());
  TextBuilder out(context);
  std::size_t position = 0;
  for (std::int64_t count = 0; max_count < 0 || count < max_count; ++count) {
    const std::size_t found = find_text(text, old, position);
    if (found == std::string_view::npos) break;
    out.append(text.substr(position, found - position));
    out.append(replacement);
    position = found + old.size();
    if (!old.empty()) continue;
    if (position == text.size()) return out.value();  // an empty pattern also matches at the end
    const std::string_view character = first_character(text.substr(position));
    out.append(character);
    position += character.size();
  }
  out.append(text.substr(std::min(position, text.size())));
  return out.value();
}

std::string title_case(std::string_view text) {
  std::string out;
  bool inside_word = false;
  for (const std::string_view character : characters(text)) {
    out += inside_word ? to_lower(character) : to_upper(character);
    inside_word = is_alpha(first_code_point(character));
  }
  return out;
}

}  // namespace trireme::chat::jinja
