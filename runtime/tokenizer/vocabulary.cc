#include "runtime/tokenizer/vocabulary.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace trireme::tokenizer {

void Vocabulary::reserve(std::size_t num_tokens, std::size_t num_bytes) {
  arena_.reserve(num_bytes);
  extents_.reserve(num_tokens);
  kinds_.reserve(num_tokens);
  std::size_t slots = 16;
  while (slots < 2 * num_tokens) slots *= 2;
  if (table_.empty()) table_.assign(slots, kEmpty);
}

base::Status Vocabulary::add(TokenId id, std::string_view bytes, TokenKind kind) {
  if (id < 0 || id >= kMaxSize) return base::invalid_argument("token id " + std::to_string(id) + " is out of range");
  if (bytes.size() > kMaxTokenBytes) return base::invalid_argument("token " + std::to_string(id) + " is too long");
  if (arena_.size() + bytes.size() > std::numeric_limits<std::uint32_t>::max()) {
    return base::invalid_argument("the vocabulary is larger than 4 GiB");
  }
  const auto i = static_cast<std::size_t>(id);
  if (i >= kinds_.size()) {
    kinds_.resize(i + 1, TokenKind::kUnused);
    extents_.resize(i + 1);
  }
  if (kinds_[i] != TokenKind::kUnused) return base::invalid_argument("two tokens have id " + std::to_string(id));
  kinds_[i] = kind;
  extents_[i] = {static_cast<std::uint32_t>(arena_.size()), static_cast<std::uint32_t>(bytes.size())};
  arena_ += bytes;
  return base::ok_status();
}

base::Status Vocabulary::index(TokenId id) {
  TRIREME_CHECK(contains(id)) << id;
  if (2 * (num_indexed_ + 1) > table_.size()) grow_table();
  const std::size_t slot = slot_of(bytes(id));
  if (table_[slot] != kEmpty) {
    return base::invalid_argument("tokens " + std::to_string(table_[slot]) + " and " + std::to_string(id) +
                                  " have the same text");
  }
  table_[slot] = id;
  ++num_indexed_;
  max_indexed_bytes_ = std::max(max_indexed_bytes_, bytes(id).size());
  return base::ok_status();
}

std::string_view Vocabulary::bytes(TokenId id) const {
  if (!contains(id)) return {};
  const Extent extent = extents_[static_cast<std::size_t>(id)];
  return std::string_view(arena_).substr(extent.offset, extent.length);
}

std::optional<TokenId> Vocabulary::find(std::string_view bytes) const {
  if (table_.empty()) return std::nullopt;
  const TokenId id = table_[slot_of(bytes)];
  return id == kEmpty ? std::nullopt : std::optional(id);
}

std::optional<TokenId> Vocabulary::find_text(std::string_view bytes) const {
  const std::optional<TokenId> id = find(bytes);
  return id && kind(*id) == TokenKind::kSpecial ? std::nullopt : id;
}

std::vector<TokenId> Vocabulary::text_tokens() const {
  std::vector<TokenId> tokens;
  for (const TokenId id : table_) {
    if (id != kEmpty && kind(id) != TokenKind::kSpecial) tokens.push_back(id);
  }
  return tokens;
}

// The slot that holds `bytes`, or the empty one where they belong.
std::size_t Vocabulary::slot_of(std::string_view bytes) const {
  const std::size_t mask = table_.size() - 1;
  std::size_t slot = std::hash<std::string_view>{}(bytes)&mask;
  while (table_[slot] != kEmpty && this->bytes(table_[slot]) != bytes) slot = (slot + 1) & mask;
  return slot;
}

void Vocabulary::grow_table() {
  const std::vector<TokenId> old = std::move(table_);
  table_.assign(std::max<std::size_t>(16, 2 * old.size()), kEmpty);
  for (const TokenId id : old) {
    if (id != kEmpty) table_[slot_of(bytes(id))] = id;
  }
}

}  // namespace trireme::tokenizer
