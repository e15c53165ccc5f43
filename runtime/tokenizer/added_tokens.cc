#include "runtime/tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "runtime/tokenizer/character_class.h"
#include "runtime/tokenizer/utf8.h"

namespace trireme::tokenizer {
namespace {

std::uint64_t edge(std::int32_t node, char byte) {
  return static_cast<std::uint64_t>(node) << 8 | static_cast<unsigned char>(byte);
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

std::optional<AddedTokens::Match> AddedTokens::next_match(std::string_view text, std::size_t from) const {
  for (std::size_t i = from; i < text.size(); ++i) {
    if (first_[static_cast<unsigned char>(text[i])] == kNone) continue;
    const std::int32_t index = longest_match(text.substr(i));
    if (index != kNone) return Match{i, &tokens_[static_cast<std::size_t>(index)]};
  }
  return std::nullopt;
}

std::vector<std::size_t> AddedTokens::special_offsets(std::string_view text) const {
  std::vector<std::size_t> offsets;
  std::size_t from = 0;
  while (const auto match = next_match(text, from)) {
    if (match->token->special) offsets.push_back(match->offset);
    from = match->offset + match->token->content.size();
  }
  return offsets;
}

void AddedTokens::split(std::string_view text, const SplitOptions& options, std::vector<TextSegment>& segments) const {
  std::size_t done = 0;  // the text before it is in `segments`
  std::size_t from = 0;
  while (const auto match = next_match(text, from)) {
    const AddedToken& token = *match->token;
    const std::size_t match_end = match->offset + token.content.size();
    const auto& literal = options.literal_offsets;
    const bool as_text = token.special && (options.special == SpecialTokens::kAsText ||
                                           std::binary_search(literal.begin(), literal.end(), match->offset));
    from = match_end;
    if (as_text || (token.single_word && !is_single_word(text, match->offset, match_end))) continue;
    const std::size_t begin =
        token.lstrip ? done + trailing_whitespace(text.substr(done, match->offset - done)) : match->offset;
    const std::size_t end = token.rstrip ? match_end + leading_whitespace(text.substr(match_end)) : match_end;
    if (begin > done) segments.push_back({text.substr(done, begin - done), std::nullopt});
    segments.push_back({text.substr(begin, end - begin), token.id});
    done = from = end;
  }
  if (done < text.size()) segments.push_back({text.substr(done), std::nullopt});
}

std::optional<TokenId> AddedTokens::find(std::string_view content) const {
  const std::int32_t index = longest_match(content);
  if (index == kNone || tokens_[static_cast<std::size_t>(index)].content != content) return std::nullopt;
  return tokens_[static_cast<std::size_t>(index)].id;
}

AddedTokens added_tokens_of(const Vocabulary& vocabulary) {
  std::vector<AddedToken> added;
  for (TokenId id = 0; id < vocabulary.size(); ++id) {
    const bool special = vocabulary.kind(id) == TokenKind::kSpecial;
    if (!special && vocabulary.kind(id) != TokenKind::kUserDefined) continue;
    if (vocabulary.bytes(id).empty()) continue;
    added.push_back({.content = std::string(vocabulary.bytes(id)), .id = id, .special = special});
  }
  return AddedTokens(std::move(added));
}

}  // namespace trireme::tokenizer
