// BlockPool: which blocks of one layer group are free, referenced or kept for the prefix cache. Accounts only; holds no
// memory. A block without references is handed out again only after the plans submitted before its release are back.
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <vector>

#include "scheduler/ids.h"

namespace trireme::scheduler {

class BlockPool {
 public:
  explicit BlockPool(std::int32_t num_blocks);

  std::int32_t num_blocks() const { return static_cast<std::int32_t>(entries_.size()); }
  std::int32_t num_unreferenced() const { return num_unreferenced_; }
  // Blocks that can be handed out now, cached ones included, and those that plans in flight still hold back.
  std::int32_t num_available() const { return static_cast<std::int32_t>(free_.size() + evictable_.size()); }
  std::int32_t num_pending() const { return num_unreferenced_ - num_available(); }

  // Goes up whenever a block becomes available.
  std::uint64_t num_freed() const { return num_freed_; }

  // A free block, with one reference; nothing when all are referenced, pending or cached.
  std::optional<BlockId> take_free();
  // The cached block without references that was released first: the one to evict.
  std::optional<BlockId> least_recently_used() const;

  void add_reference(BlockId block);
  void drop_reference(BlockId block);
  std::int32_t num_references(BlockId block) const { return entry(block).references; }

  // Whether the prefix cache knows the block's content, and so wants it kept until it is evicted.
  void set_cached(BlockId block, bool cached);

  // Plans are submitted and come back in the same order.
  void plan_submitted() { ++num_submitted_; }
  void plan_completed();

 private:
  enum class Place : std::uint8_t { kFree, kReferenced, kPending, kEvictable };
  struct Entry {
    std::int32_t references = 0;
    Place place = Place::kFree;
    bool cached = false;
    std::uint64_t hold_until = 0;  // number of plans that must be back before it is handed out again
    std::list<BlockId>::iterator in_evictable;
  };
  struct Pending {
    BlockId block;
    std::uint64_t hold_until = 0;
  };

  Entry& entry(BlockId block);
  const Entry& entry(BlockId block) const { return const_cast<BlockPool*>(this)->entry(block); }
  void make_available(BlockId block);

  std::vector<Entry> entries_;
  std::vector<BlockId> free_;
  std::list<BlockId> evictable_;  // first released first
  std::deque<Pending> pending_;   // in order of release; an entry whose block was referenced since is void
  std::int32_t num_unreferenced_ = 0;
  std::uint64_t num_freed_ = 0;
  std::uint64_t num_submitted_ = 0;
  std::uint64_t num_completed_ = 0;
};

}  // namespace trireme::scheduler
