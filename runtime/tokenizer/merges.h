// MergeTable: pairs of tokens that byte-pair encoding joins, with their rank and what they become.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/tokenizer/merge_loop.h"
#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

struct Merge {
  std::uint32_t rank = 0;  // lower ranks are merged first
  TokenId merged = 0;
};

class MergeTable {
 public:
  static constexpr std::size_t kMaxMerges = 1 << 24;

  // `expected`: number of merges that will be added, at most kMaxMerges.
  explicit MergeTable(std::size_t expected = 0);

  // Adds the pair with the next rank; of a pair that comes twice the last rank counts. What it becomes is `left` and,
  // without its first `prefix_bytes`, `right`. Errors: one of the three is not in the vocabulary, or there are too
  // many.
  base::Status add(const Vocabulary& vocabulary, std::string_view left, std::string_view right,
                   std::size_t prefix_bytes = 0);
  const Merge* find(TokenId left, TokenId right) const;
  // Merges the symbols of a word by rank, and appends the tokens that are left.
  void apply(MergeScratch& scratch, std::vector<TokenId>& ids) const;
  std::size_t size() const { return num_entries_; }

 private:
  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  struct Entry {
    std::uint64_t key = kEmpty;
    Merge merge;
  };
  std::size_t slot_of(std::uint64_t key) const;
  void grow();

  std::vector<Entry> table_;  // open addressing with linear probing; the size is a power of two
  std::size_t num_entries_ = 0;
  std::uint32_t next_rank_ = 0;
};

}  // namespace trireme::tokenizer
