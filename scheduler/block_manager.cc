#include "scheduler/block_manager.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace trireme::scheduler {

BlockManager::BlockManager(std::int32_t block_tokens, std::vector<KvGroup> groups, bool prefix_cache)
    : block_tokens_(block_tokens),
      groups_(std::move(groups)),
      prefix_cache_(prefix_cache),
      cache_(block_tokens_, groups_) {
  for (const KvGroup& group : groups_) pools_.emplace_back(group.num_blocks);
}

std::int32_t BlockManager::blocks_needed(std::size_t group, std::int32_t num_tokens) const {
  const std::int32_t all = ceil_div(num_tokens, block_tokens_);
  const std::int32_t window = groups_[group].window;
  // `window` consecutive positions that begin at the last slot of a block touch most blocks.
  return window == 0 ? all : std::min(all, ceil_div(window - 1, block_tokens_) + 1);
}

std::int32_t BlockManager::blocks_missing(std::size_t group, const BlockTable& table, std::int32_t num_tokens) const {
  const std::int32_t to_come = ceil_div(num_tokens, block_tokens_) - table.size();
  return std::clamp(to_come, 0, std::max(0, blocks_needed(group, num_tokens) - table.num_held()));
}

std::int32_t BlockManager::tokens_that_fit(const BlockTables& tables, std::int32_t begin, std::int32_t wanted) const {
  std::int32_t fit = wanted;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::int64_t blocks = std::int64_t{tables[g].size()} + pools_[g].num_available();
    fit = static_cast<std::int32_t>(std::min<std::int64_t>(fit, blocks * block_tokens_ - begin));
  }
  return std::max(fit, 0);
}

BlockId BlockManager::take(std::size_t group) {
  BlockPool& pool = pools_[group];
  std::optional<BlockId> block = pool.take_free();
  if (!block) {
    const std::optional<BlockId> evicted = pool.least_recently_used();
    TRIREME_CHECK(evicted) << "no free block in group " << group;
    std::vector<GroupBlock> detached;
    cache_.forget({group, *evicted}, detached);
    uncache(detached);
    block = pool.take_free();
  }
  TRIREME_CHECK(block) << "group " << group;
  return *block;
}

void BlockManager::extend(BlockTables& tables, std::int32_t num_tokens) {
  const std::int32_t size = ceil_div(num_tokens, block_tokens_);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    while (tables[g].size() < size) tables[g].blocks.push_back(take(g));
  }
}

void BlockManager::send_new_blocks(SequenceId sequence, BlockTables& tables, std::vector<BlockAppend>& appended) const {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    BlockTable& table = tables[g];
    if (table.num_sent == table.size()) continue;
    appended.push_back(
        {sequence, static_cast<std::uint32_t>(g), {table.blocks.begin() + table.num_sent, table.blocks.end()}});
    table.num_sent = table.size();
  }
}

void BlockManager::pass_window(BlockTables& tables, std::int32_t next_position) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    BlockTable& table = tables[g];
    const std::int32_t visible = std::min(first_visible_block(groups_[g], block_tokens_, next_position), table.size());
    for (; table.first_held < visible; ++table.first_held) {
      pools_[g].drop_reference(table.blocks[static_cast<std::size_t>(table.first_held)]);
    }
  }
}

void BlockManager::release(BlockTables& tables) {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    BlockTable& table = tables[g];
    for (std::int32_t i = table.size(); i-- > table.first_held;) {
      pools_[g].drop_reference(table.blocks[static_cast<std::size_t>(i)]);
    }
    table = {};
  }
}

PrefixReuse BlockManager::reuse_prefix(ScopedTokens known, MatchExtent extent, BlockTables& tables) {
  PrefixReuse reuse;
  if (!prefix_cache_) return reuse;
  PrefixCache::Match match = cache_.match(known.scope, known.tokens, extent);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    BlockTable& table = tables[g];
    table.blocks = std::move(match.blocks[g]);
    while (table.first_held < table.size() && table.blocks[static_cast<std::size_t>(table.first_held)] == kNoBlock) {
      ++table.first_held;
    }
    for (std::int32_t i = table.first_held; i < table.size(); ++i) {
      pools_[g].add_reference(table.blocks[static_cast<std::size_t>(i)]);
    }
    if (match.partial_tokens > 0) pools_[g].add_reference(match.partial_sources[g]);
  }
  reuse.shared_tokens = match.num_blocks * block_tokens_;
  reuse.copied_tokens = match.partial_tokens;
  reuse.sources = std::move(match.partial_sources);
  return reuse;
}

void BlockManager::release_sources(PrefixReuse& reuse) {
  for (std::size_t g = 0; g < reuse.sources.size(); ++g) pools_[g].drop_reference(reuse.sources[g]);
  reuse.sources.clear();
  reuse.copied_tokens = 0;
}

void BlockManager::cache_computed(ScopedTokens computed, const BlockTables& tables, CacheCursor& cursor,
                                  bool include_partial) {
  const auto num_tokens = static_cast<std::int32_t>(computed.tokens.size());
  const std::int32_t full = num_tokens / block_tokens_;
  const std::int32_t rest = num_tokens % block_tokens_;
  if (!prefix_cache_ || (cursor.num_blocks >= full && (rest == 0 || !include_partial))) return;
  if (!cache_.contains(cursor.node)) cursor = {cache_.root(computed.scope), 0};
  while (cursor.num_blocks < full) {
    insert_block(computed, tables, cursor, block_tokens_);
    ++cursor.num_blocks;
  }
  if (include_partial && rest > 0) {
    CacheCursor tail = cursor;
    insert_block(computed, tables, tail, rest);
    cache_.drop_if_empty(tail.node);
  }
  cache_.drop_if_empty(cursor.node);
}

void BlockManager::insert_block(ScopedTokens computed, const BlockTables& tables, CacheCursor& cursor,
                                std::int32_t num_tokens) {
  const std::int32_t index = cursor.num_blocks;
  std::vector<BlockId> blocks(groups_.size(), kNoBlock);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (index >= tables[g].first_held) blocks[g] = tables[g].blocks[static_cast<std::size_t>(index)];
  }
  const auto begin = static_cast<std::size_t>(index) * static_cast<std::size_t>(block_tokens_);
  std::vector<GroupBlock> attached;
  cursor.node = cache_.insert(cursor.node, computed.tokens.subspan(begin, static_cast<std::size_t>(num_tokens)), blocks,
                              attached);
  for (const GroupBlock& block : attached) pools_[block.group].set_cached(block.block, true);
}

void BlockManager::forget(const BlockTables& tables) {
  std::vector<GroupBlock> detached;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (std::int32_t i = tables[g].first_held; i < tables[g].size(); ++i) {
      cache_.forget({g, tables[g].blocks[static_cast<std::size_t>(i)]}, detached);
    }
  }
  uncache(detached);
}

void BlockManager::forget_scope(const std::string& scope) {
  std::vector<GroupBlock> detached;
  cache_.forget_scope(scope, detached);
  uncache(detached);
}

void BlockManager::uncache(std::span<const GroupBlock> blocks) {
  for (const GroupBlock& block : blocks) pools_[block.group].set_cached(block.block, false);
}

std::uint64_t BlockManager::num_freed() const {
  std::uint64_t sum = 0;
  for (const BlockPool& pool : pools_) sum += pool.num_freed();
  return sum;
}

void BlockManager::plan_submitted() {
  for (BlockPool& pool : pools_) pool.plan_submitted();
}

void BlockManager::plan_completed() {
  for (BlockPool& pool : pools_) pool.plan_completed();
}

}  // namespace trireme::scheduler
