#include "scheduler/prefix_cache.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace trireme::scheduler {

struct PrefixCache::Node {
  NodeId id = 0;
  Node* parent = nullptr;  // null for a root
  std::string scope;       // of a root
  std::vector<TokenId> tokens;
  std::vector<BlockId> blocks;  // per group; kNoBlock: not cached, or evicted
  std::set<Node*, TokensLess> children;
};

bool PrefixCache::TokensLess::operator()(const Node* a, const Node* b) const {
  return a->tokens < b->tokens;
}
bool PrefixCache::TokensLess::operator()(const Node* a, std::span<const TokenId> b) const {
  return std::lexicographical_compare(a->tokens.begin(), a->tokens.end(), b.begin(), b.end());
}
bool PrefixCache::TokensLess::operator()(std::span<const TokenId> a, const Node* b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b->tokens.begin(), b->tokens.end());
}

PrefixCache::PrefixCache(std::int32_t block_tokens, std::vector<KvGroup> groups)
    : block_tokens_(block_tokens), groups_(std::move(groups)), owner_(groups_.size()) {}
PrefixCache::~PrefixCache() = default;

PrefixCache::Node* PrefixCache::add_node(Node* parent, std::span<const TokenId> tokens) {
  auto node = std::make_unique<Node>();
  node->id = ++last_id_;
  node->parent = parent;
  node->tokens.assign(tokens.begin(), tokens.end());
  node->blocks.assign(groups_.size(), kNoBlock);
  Node* added = node.get();
  nodes_.emplace(added->id, std::move(node));
  if (parent != nullptr) parent->children.insert(added);
  return added;
}

PrefixCache::NodeId PrefixCache::root(const std::string& scope) {
  Node*& node = roots_[scope];
  if (node == nullptr) {
    node = add_node(nullptr, {});
    node->scope = scope;
  }
  return node->id;
}

PrefixCache::Match PrefixCache::match(const std::string& scope, std::span<const TokenId> tokens,
                                      MatchExtent extent) const {
  Match match;
  match.blocks.resize(groups_.size());
  const auto root = roots_.find(scope);
  if (root == roots_.end()) return match;
  const Node* last = root->second;
  const auto block_tokens = static_cast<std::size_t>(block_tokens_);
  std::vector<const Node*> path;
  while (tokens.size() >= block_tokens) {
    const auto child = last->children.find(tokens.first(block_tokens));
    if (child == last->children.end()) break;
    last = *child;
    path.push_back(last);
    tokens = tokens.subspan(block_tokens);
  }
  std::int32_t num_equal = 0;
  const Node* alike = most_alike(*last, tokens, num_equal);
  match.num_blocks = static_cast<std::int32_t>(path.size());
  const std::int32_t whole_tokens = match.num_blocks * block_tokens_;
  if (alike != nullptr && extent == MatchExtent::kPartialBlock && std::ranges::count(alike->blocks, kNoBlock) == 0 &&
      can_continue(path, match.num_blocks, whole_tokens + num_equal)) {
    match.partial_tokens = num_equal;
    match.partial_sources = alike->blocks;
    fill_match(path, whole_tokens + num_equal, match);
    return match;
  }
  while (!can_continue(path, match.num_blocks, match.num_blocks * block_tokens_)) --match.num_blocks;
  fill_match(path, match.num_blocks * block_tokens_, match);
  return match;
}

// The child that shares the most leading tokens lies next to where `tokens` would stand in the order.
const PrefixCache::Node* PrefixCache::most_alike(const Node& parent, std::span<const TokenId> tokens,
                                                 std::int32_t& num_equal) const {
  const Node* best = nullptr;
  const auto consider = [&](const Node* child) {
    const auto mismatch = std::ranges::mismatch(child->tokens, tokens);
    const auto equal = static_cast<std::int32_t>(mismatch.in1 - child->tokens.begin());
    if (equal <= num_equal) return;
    num_equal = equal;
    best = child;
  };
  const auto next = parent.children.lower_bound(tokens);
  if (next != parent.children.end()) consider(*next);
  if (next != parent.children.begin()) consider(*std::prev(next));
  return best;
}

bool PrefixCache::can_continue(const std::vector<const Node*>& path, std::int32_t num_blocks,
                               std::int32_t num_tokens) const {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].window == 0) continue;  // a node lives no longer than its blocks of full attention
    for (std::int32_t i = num_blocks; i-- > first_visible_block(groups_[g], block_tokens_, num_tokens);) {
      if (path[static_cast<std::size_t>(i)]->blocks[g] == kNoBlock) return false;
    }
  }
  return true;
}

void PrefixCache::fill_match(const std::vector<const Node*>& path, std::int32_t num_tokens, Match& match) const {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::int32_t first = first_visible_block(groups_[g], block_tokens_, num_tokens);
    match.blocks[g].reserve(static_cast<std::size_t>(match.num_blocks));
    for (std::int32_t i = 0; i < match.num_blocks; ++i) {
      match.blocks[g].push_back(i < first ? kNoBlock : path[static_cast<std::size_t>(i)]->blocks[g]);
    }
  }
}

PrefixCache::NodeId PrefixCache::insert(NodeId parent_id, std::span<const TokenId> tokens,
                                        std::span<const BlockId> blocks, std::vector<GroupBlock>& attached) {
  Node* parent = nodes_.at(parent_id).get();
  const bool whole = tokens.size() == static_cast<std::size_t>(block_tokens_);
  const auto place = parent->children.lower_bound(tokens);
  Node* node = nullptr;
  if (place != parent->children.end()) {
    const auto mismatch = std::ranges::mismatch((*place)->tokens, tokens);
    if (mismatch.in2 == tokens.end()) {
      if (mismatch.in1 == (*place)->tokens.end())
        node = *place;
      else if (!whole)
        return 0;  // a longer run serves all that this one could
    }
  }
  if (node == nullptr) node = add_node(parent, tokens);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (blocks[g] == kNoBlock || node->blocks[g] != kNoBlock) continue;
    if (!owner_[g].emplace(blocks[g], node).second) continue;
    node->blocks[g] = blocks[g];
    attached.push_back({g, blocks[g]});
  }
  return node->id;
}

void PrefixCache::drop_if_empty(NodeId node) {
  const auto found = nodes_.find(node);
  if (found != nodes_.end()) remove_empty(found->second.get());
}

void PrefixCache::forget(GroupBlock block, std::vector<GroupBlock>& detached) {
  const auto owner = owner_[block.group].find(block.block);
  if (owner == owner_[block.group].end()) return;
  Node* node = owner->second;
  if (groups_[block.group].window == 0) {
    remove_subtree(*node, detached);
  } else {
    detach(*node, block.group, detached);
    remove_empty(node);
  }
}

void PrefixCache::forget_scope(const std::string& scope, std::vector<GroupBlock>& detached) {
  // Removing the last child of the root removes the root.
  for (auto root = roots_.find(scope); root != roots_.end(); root = roots_.find(scope)) {
    if (root->second->children.empty()) return remove_empty(root->second);
    remove_subtree(**root->second->children.begin(), detached);
  }
}

void PrefixCache::detach(Node& node, std::size_t group, std::vector<GroupBlock>& detached) {
  if (node.blocks[group] == kNoBlock) return;
  detached.push_back({group, node.blocks[group]});
  owner_[group].erase(node.blocks[group]);
  node.blocks[group] = kNoBlock;
}

void PrefixCache::remove_subtree(Node& top, std::vector<GroupBlock>& detached) {
  Node* above = top.parent;
  above->children.erase(&top);
  std::vector<Node*> rest{&top};
  while (!rest.empty()) {
    Node* node = rest.back();
    rest.pop_back();
    rest.insert(rest.end(), node->children.begin(), node->children.end());
    for (std::size_t g = 0; g < groups_.size(); ++g) detach(*node, g, detached);
    nodes_.erase(node->id);
  }
  remove_empty(above);
}

void PrefixCache::remove_empty(Node* node) {
  while (node != nullptr && node->children.empty() &&
         std::ranges::all_of(node->blocks, [](BlockId block) { return block == kNoBlock; })) {
    Node* parent = node->parent;
    if (parent == nullptr) {
      roots_.erase(node->scope);
    } else {
      parent->children.erase(node);
    }
    nodes_.erase(node->id);
    node = parent;
  }
}

}  // namespace trireme::scheduler
