// StopMatcher: finds the first of several stop strings in a text that comes in pieces, in time linear in the text
// (Aho and Corasick 1975), and knows how much of what came could still be the start of one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::tokenizer {

class StopMatcher {
 public:
  // None of `stops` is empty.
  explicit StopMatcher(const std::vector<std::string>& stops);

  // Where the text of all pieces together is cut.
  struct Found {
    std::size_t consumed = 0;  // bytes of this piece up to the match's end
    std::size_t length = 0;    // of the match, which may have begun in an earlier piece
  };
  // Stops at the match that ends first, and of those the one that begins first: what is found does not depend on how
  // the text was cut into pieces. Not to be called again after a match.
  std::optional<Found> push(std::string_view piece);
  // Length of the longest end of the text so far that a stop string begins with.
  std::size_t num_pending_bytes() const { return nodes_[state_].depth; }

 private:
  struct Node {
    std::map<char, std::uint32_t> children;
    std::uint32_t fallback = 0;      // the longest proper suffix that is in the trie too
    std::uint32_t depth = 0;         // bytes from the root
    std::uint32_t match_length = 0;  // of the longest stop string that ends here; 0: none
  };
  std::uint32_t step(std::uint32_t state, char byte) const;
  void link_fallbacks();

  std::vector<Node> nodes_;
  std::uint32_t state_ = 0;
};

}  // namespace trireme::tokenizer
