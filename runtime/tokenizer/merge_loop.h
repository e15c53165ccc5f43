// The merge loop of byte-pair encoding (Sennrich et al. 2016, algorithm 1), on a linked list of symbols with a heap of
// candidate pairs: O(n log n) for one word of n symbols, no recursion.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/tokenizer/vocabulary.h"

namespace trireme::tokenizer {

// A run of the word's bytes. Symbols that were merged into their left neighbour have no bytes.
struct Symbol {
  std::int32_t previous = -1;
  std::int32_t next = -1;
  TokenId id = kNoToken;  // kNoToken: not in the vocabulary
  std::uint32_t begin = 0;
  std::uint32_t bytes = 0;
};

struct MergeCandidate {
  float priority = 0;  // the lowest is merged first, and the leftmost of equals
  std::int32_t left = 0;
  std::uint32_t bytes = 0;  // of both symbols together, as they were; otherwise the candidate is out of date
  TokenId merged = kNoToken;

  bool operator<(const MergeCandidate& other) const {  // std heaps keep the greatest on top
    return priority != other.priority ? priority > other.priority : left > other.left;
  }
};

// Buffers that one call reuses for all its words.
struct MergeScratch {
  std::vector<Symbol> symbols;
  std::vector<MergeCandidate> heap;

  void add_symbol(TokenId id, std::size_t begin, std::size_t bytes) {
    const auto index = static_cast<std::int32_t>(symbols.size());
    if (index > 0) symbols.back().next = index;
    symbols.push_back({index - 1, -1, id, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(bytes)});
  }
};

// Merges in `scratch.symbols` until no pair is left that may be. `rank(left, right)` returns the priority and the id of
// the merged token, as an optional pair, or nothing.
template <typename RankPair>
void merge_symbols(MergeScratch& scratch, const RankPair& rank) {
  std::vector<Symbol>& symbols = scratch.symbols;
  std::vector<MergeCandidate>& heap = scratch.heap;
  heap.clear();
  const auto candidate = [&](std::int32_t left) {
    const Symbol& a = symbols[static_cast<std::size_t>(left)];
    if (a.next < 0) return false;
    const Symbol& b = symbols[static_cast<std::size_t>(a.next)];
    const auto ranked = rank(a, b);
    if (ranked) heap.push_back({ranked->first, left, a.bytes + b.bytes, ranked->second});
    return ranked.has_value();
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) candidate(static_cast<std::int32_t>(i));
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    const MergeCandidate best = heap.front();
    std::pop_heap(heap.begin(), heap.end());
    heap.pop_back();
    Symbol& left = symbols[static_cast<std::size_t>(best.left)];
    if (left.bytes == 0 || left.next < 0) continue;
    Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    // Symbols only grow: an equal sum means that neither has since.
    if (left.bytes + right.bytes != best.bytes) continue;
    left.id = best.merged;
    left.bytes = best.bytes;
    left.next = right.next;
    right.bytes = 0;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = best.left;
    if (candidate(best.left)) std::push_heap(heap.begin(), heap.end());
    if (left.previous >= 0 && candidate(left.previous)) std::push_heap(heap.begin(), heap.end());
  }
}

}  // namespace trireme::tokenizer
