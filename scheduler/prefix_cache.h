// PrefixCache: which blocks hold the keys and values of which tokens. One tree per scope; a node is a run of tokens
// (one block's worth) after those of its parent, with the block that holds them in each layer group.
//
// Tokens are compared, never only their hashes: children are sorted by their tokens, which finds the equal block and
// also the one that shares most tokens with a prompt, in O(log n) comparisons (compare the radix tree of
// RadixAttention, Zheng et al. 2024, section 3; here the edges are whole blocks). Bookkeeping only: references and
// eviction order are BlockPool's.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/ids.h"
#include "scheduler/kv_group.h"

namespace trireme::scheduler {

struct GroupBlock {
  std::size_t group = 0;
  BlockId block;
};

enum class MatchExtent { kWholeBlocks, kPartialBlock };  // kPartialBlock: whole blocks and a part of the next

class PrefixCache {
 public:
  using NodeId = std::uint64_t;  // never reused; 0: none

  struct Match {
    std::int32_t num_blocks = 0;  // whole blocks shared
    // Per group, num_blocks entries: kNoBlock before the window of the position that follows the match.
    std::vector<std::vector<BlockId>> blocks;
    std::int32_t partial_tokens = 0;       // tokens of one more block that are equal; they can be copied
    std::vector<BlockId> partial_sources;  // per group, where partial_tokens > 0
  };

  PrefixCache(std::int32_t block_tokens, std::vector<KvGroup> groups);
  ~PrefixCache();

  // The longest cached prefix of `tokens` that can be continued: all its blocks in full-attention groups, those of the
  // last window in window groups.
  Match match(const std::string& scope, std::span<const TokenId> tokens, MatchExtent extent) const;

  NodeId root(const std::string& scope);
  bool contains(NodeId node) const { return nodes_.contains(node); }

  // Records that blocks[g] (kNoBlock: nothing) hold `tokens` after those of `parent`: at most a block's worth, and
  // fewer only as a leaf for partial matches. Adds to `attached` the blocks that became cached; where the same tokens
  // are cached already, the earlier block stays. Returns the node, or 0 if nothing could be kept.
  NodeId insert(NodeId parent, std::span<const TokenId> tokens, std::span<const BlockId> blocks,
                std::vector<GroupBlock>& attached);

  // Drops a leaf that insert() could give no block to.
  void drop_if_empty(NodeId node);

  // Drops all that is cached for a scope. Adds the blocks no longer cached to `detached`.
  void forget_scope(const std::string& scope, std::vector<GroupBlock>& detached);
  // Drops a block, and all that cannot be reached without it. Adds the blocks no longer cached to `detached`.
  void forget(GroupBlock block, std::vector<GroupBlock>& detached);

 private:
  struct Node;
  struct TokensLess {
    using is_transparent = void;
    bool operator()(const Node* a, const Node* b) const;
    bool operator()(const Node* a, std::span<const TokenId> b) const;
    bool operator()(std::span<const TokenId> a, const Node* b) const;
  };

  Node* add_node(Node* parent, std::span<const TokenId> tokens);
  const Node* most_alike(const Node& parent, std::span<const TokenId> tokens, std::int32_t& num_equal) const;
  bool can_continue(const std::vector<const Node*>& path, std::int32_t num_blocks, std::int32_t num_tokens) const;
  void fill_match(const std::vector<const Node*>& path, std::int32_t num_tokens, Match& match) const;
  void detach(Node& node, std::size_t group, std::vector<GroupBlock>& detached);
  void remove_subtree(Node& node, std::vector<GroupBlock>& detached);
  void remove_empty(Node* node);

  std::int32_t block_tokens_;
  std::vector<KvGroup> groups_;
  std::vector<std::unordered_map<BlockId, Node*>> owner_;  // per group
  std::unordered_map<NodeId, std::unique_ptr<Node>> nodes_;
  std::unordered_map<std::string, Node*> roots_;
  NodeId last_id_ = 0;
};

}  // namespace trireme::scheduler
