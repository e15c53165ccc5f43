#include "runtime/tokenizer/added_tokens.h"

#include <utility>

#include "base/check.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

std::uint64_t edge(std::int32_t node, char byte) {
  return static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
}

// Where the whitespace that ends `text` begins.
std::size_t trailing_whitespace(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && is_whitespace(last_code_point(text.substr(0, end)))) {
    do {
      --end;
    } while ((static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  }
  return end;
}

// Length of the whitespace that `text` begins with.
std::size_t leading_whitespace(std::string_view text) {
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Utf8Character character = first_character(text.substr(bytes));
    if (!is_whitespace(character.code_point)) break;
    bytes += character.bytes;
  }
  return bytes;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens)
    : tokens_(std::move(tokens)), token_at_{kNone}, first_(256, kNone) {
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    TRIREME_CHECK(!tokens_[i].content.empty()) << tokens_[i].id;
    std::int32_t node = 0;
    for (const char byte : tokens_[i].content) {
      const auto next = static_cast<std::int32_t>(token_at_.size());
      const auto [entry, inserted] = children_.try_emplace(edge(node, byte), next);
      if (inserted) token_at_.push_back(kNone);
      if (node == 0) first_[static_cast<unsigned char>(byte)] = entry->second;
      node = entry->second;
    }
    auto& token = token_at_[static_cast<std::size_t>(node)];
    if (token == kNone) token = static_cast<std::int32_t>(i);
  }
}

std::int32_t AddedTokens::child(std::int32_t node, char byte) const {
  if (node == 0) return first_[static_cast<unsigned char>(byte)];
  const auto entry = children_.find(edge(node, byte));
  return entry == children_.end() ? kNone : entry->second;
}

std::int32_t AddedTokens::longest_match(std::string_view text) const {
  std::int32_t node = 0;
  std::int32_t longest = kNone;
  for (const char byte : text) {
    node = child(node, byte);
    if (node == kNone) break;
    if (token_at_[static_cast<std::size_t>(node)] != kNone) longest = token_at_[static_cast<std::size_t>(node)];
  }
  return longest;
}

bool AddedTokens::is_single_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (begin > 0 && is_word_character(last_code_point(text.substr(0, begin)))) return false;
  return end == text.size() || !is_word_character(first_character(text.substr(end)).code_point);
}

void AddedTokens::split(std::string_view text, SpecialTokens mode, std::vector<TextSegment>& segments) const {
  std::size_t done = 0;  // the text before it is in `segments`
  for (std::size_t i = 0; i < text.size();) {
    const std::int32_t index =
        first_[static_cast<unsigned char>(text[i])] == kNone ? kNone : longest_match(text.substr(i));
    if (index == kNone) {
      ++i;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<std::size_t>(index)];
    const std::size_t match_end = i + token.content.size();
    const bool as_text = token.special && mode == SpecialTokens::kAsText;
    if (as_text || (token.single_word && !is_single_word(text, i, match_end))) {
      i = match_end;
      continue;
    }
    const std::size_t begin = token.lstrip ? done + trailing_whitespace(text.substr(done, i - done)) : i;
    const std::size_t end = token.rstrip ? match_end + leading_whitespace(text.substr(match_end)) : match_end;
    if (begin > done) segments.push_back({text.substr(done, begin - done), std::nullopt});
    segments.push_back({text.substr(begin, end - begin), token.id});
    done = end;
    i = end;
  }
  if (done < text.size()) segments.push_back({text.substr(done), std::nullopt});
}

std::optional<TokenId> AddedTokens::find(std::string_view content) const {
  const std::int32_t index = longest_match(content);
  if (index == kNone || tokens_[static_cast<std::size_t>(index)].content != content) return std::nullopt;
  return tokens_[static_cast<std::size_t>(index)].id;
}

}  // namespace trireme::tokenizer
