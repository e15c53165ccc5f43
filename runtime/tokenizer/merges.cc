#include "runtime/tokenizer/merges.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace trireme::tokenizer {
namespace {

std::uint64_t pair_key(TokenId left, TokenId right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

MergeTable::MergeTable(std::size_t expected) {
  TRIREME_CHECK(expected <= kMaxMerges) << expected;
  std::size_t slots = 16;
  while (slots < 2 * expected) slots *= 2;
  table_.resize(slots);
}

base::Status MergeTable::add(const Vocabulary& vocabulary, std::string_view left, std::string_view right,
                             std::size_t prefix_bytes) {
  if (next_rank_ >= kMaxMerges) return base::invalid_argument("there are too many merges");
  const std::string both = std::string(left) + std::string(right.substr(std::min(prefix_bytes, right.size())));
  const auto missing = [&](std::string_view token) {
    return base::invalid_argument("merge " + std::to_string(next_rank_) + ": token \"" + std::string(token) +
                                  "\" is not in the vocabulary");
  };
  const auto left_id = vocabulary.find(left);
  if (!left_id) return missing(left);
  const auto right_id = vocabulary.find(right);
  if (!right_id) return missing(right);
  const auto merged = vocabulary.find(both);
  if (!merged) return missing(both);
  if (2 * (num_entries_ + 1) > table_.size()) grow();
  Entry& entry = table_[slot_of(pair_key(*left_id, *right_id))];
  if (entry.key == kEmpty) ++num_entries_;
  entry = {pair_key(*left_id, *right_id), {next_rank_++, *merged}};
  return base::ok_status();
}

const Merge* MergeTable::find(TokenId left, TokenId right) const {
  const Entry& entry = table_[slot_of(pair_key(left, right))];
  return entry.key == kEmpty ? nullptr : &entry.merge;
}

std::size_t MergeTable::slot_of(std::uint64_t key) const {
  const std::size_t mask = table_.size() - 1;
  // Fibonacci hashing: the high bits of the product are mixed best.
  std::size_t slot = (key * 0x9E3779B97F4A7C15u >> 32) & mask;
  while (table_[slot].key != kEmpty && table_[slot].key != key) slot = (slot + 1) & mask;
  return slot;
}

void MergeTable::grow() {
  const std::vector<Entry> old = std::move(table_);
  table_.assign(2 * old.size(), {});
  for (const Entry& entry : old) {
    if (entry.key != kEmpty) table_[slot_of(entry.key)] = entry;
  }
}

void MergeTable::apply(MergeScratch& scratch, std::vector<TokenId>& ids) const {
  if (scratch.symbols.empty()) return;
  merge_symbols(scratch, [this](const Symbol& left, const Symbol& right) -> std::optional<std::pair<float, TokenId>> {
    const Merge* merge = find(left.id, right.id);
    if (merge == nullptr) return std::nullopt;
    return std::pair(static_cast<float>(merge->rank), merge->merged);
  });
  for (std::int32_t i = 0; i >= 0; i = scratch.symbols[static_cast<std::size_t>(i)].next) {
    ids.push_back(scratch.symbols[static_cast<std::size_t>(i)].id);
  }
}

}  // namespace trireme::tokenizer
