// BlockManager: accounts for the KV blocks of one replica, in all its layer groups: who holds which, what is shared,
// what can be reused. Holds no memory. Used by the engine thread of rank 0 alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "scheduler/block_pool.h"
#include "scheduler/ids.h"
#include "scheduler/kv_group.h"
#include "scheduler/prefix_cache.h"
#include "scheduler/step_plan.h"

namespace trireme::scheduler {

// The blocks of one sequence in one layer group, by position / block_tokens.
struct BlockTable {
  std::vector<BlockId> blocks;
  std::int32_t first_held = 0;  // the blocks before it lie before the window and are given back
  std::int32_t num_sent = 0;    // entries that plans have told the stages about

  std::int32_t size() const { return static_cast<std::int32_t>(blocks.size()); }
  std::int32_t num_held() const { return size() - first_held; }
};
using BlockTables = std::vector<BlockTable>;  // per layer group

// What a new sequence takes from the prefix cache. References are held on the shared blocks (in the tables) and on the
// sources of copies.
struct PrefixReuse {
  std::int32_t shared_tokens = 0;  // in whole blocks, now in the tables
  std::int32_t copied_tokens = 0;  // of the block after them
  std::vector<BlockId> sources;    // per group, where copied_tokens > 0
};

// How far the full blocks of a sequence are known to the prefix cache.
struct CacheCursor {
  PrefixCache::NodeId node = 0;
  std::int32_t num_blocks = 0;
};

// The tokens of one sequence, and the scope in which prefixes are shared.
struct ScopedTokens {
  const std::string& scope;
  std::span<const TokenId> tokens;
};

class BlockManager {
 public:
  BlockManager(std::int32_t block_tokens, std::vector<KvGroup> groups, bool prefix_cache);

  std::size_t num_groups() const { return groups_.size(); }
  const BlockPool& pool(std::size_t group) const { return pools_[group]; }
  BlockTables empty_tables() const { return BlockTables(groups_.size()); }

  // The blocks of `group` that num_tokens positions need at a time, if they are computed one by one.
  std::int32_t blocks_needed(std::size_t group, std::int32_t num_tokens) const;
  // How many more than those in `table`.
  std::int32_t blocks_missing(std::size_t group, const BlockTable& table, std::int32_t num_tokens) const;
  // How many positions from `begin` on, at most `wanted`, have or can get a block in every group now.
  std::int32_t tokens_that_fit(const BlockTables& tables, std::int32_t begin, std::int32_t wanted) const;
  // Whether the position `begin` needs a new block of the group.
  bool needs_block(std::size_t group, const BlockTables& tables, std::int32_t begin) const {
    return tables[group].size() * block_tokens_ <= begin;
  }

  // Lengthens the tables to hold num_tokens positions. Precondition: they fit.
  void extend(BlockTables& tables, std::int32_t num_tokens);
  // Adds to `appended` what the stages do not know of the tables yet.
  void send_new_blocks(SequenceId sequence, BlockTables& tables, std::vector<BlockAppend>& appended) const;
  // Gives back the blocks that no position from next_position on can see.
  void pass_window(BlockTables& tables, std::int32_t next_position);
  // Gives back all blocks, the last first, so that a cached prefix outlives what follows it.
  void release(BlockTables& tables);

  // Puts the longest cached prefix of `known` into the empty tables.
  PrefixReuse reuse_prefix(ScopedTokens known, MatchExtent extent, BlockTables& tables);
  // Gives back the sources of copies: either there is no copy, or the plan with the copies is submitted.
  void release_sources(PrefixReuse& reuse);
  // Makes the blocks that hold `computed` findable; with `include_partial` also the last one, if it is not full.
  void cache_computed(ScopedTokens computed, const BlockTables& tables, CacheCursor& cursor, bool include_partial);
  // Forgets the content of the blocks, which must not be shared again.
  void forget(const BlockTables& tables);

  // Forgets all that is cached for a tenant: what no sequence holds is free at once.
  void forget_scope(const std::string& scope);

  void plan_submitted();
  void plan_completed();

  // Goes up whenever a block becomes available.
  std::uint64_t num_freed() const;

 private:
  BlockId take(std::size_t group);
  void insert_block(ScopedTokens computed, const BlockTables& tables, CacheCursor& cursor, std::int32_t num_tokens);
  void uncache(std::span<const GroupBlock> blocks);

  std::int32_t block_tokens_;
  std::vector<KvGroup> groups_;
  bool prefix_cache_;
  std::vector<BlockPool> pools_;
  PrefixCache cache_;
};

}  // namespace trireme::scheduler
