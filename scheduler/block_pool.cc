#include "scheduler/block_pool.h"

#include "base/check.h"

namespace trireme::scheduler {

BlockPool::BlockPool(std::int32_t num_blocks) : entries_(static_cast<std::size_t>(num_blocks)) {
  for (std::int32_t block = num_blocks; block-- > 0;) free_.push_back(BlockId{block});
  num_unreferenced_ = num_blocks;
}

BlockPool::Entry& BlockPool::entry(BlockId block) {
  TRIREME_CHECK(block.value >= 0 && block.value < num_blocks()) << "block " << block << " of " << num_blocks();
  return entries_[static_cast<std::size_t>(block.value)];
}

std::optional<BlockId> BlockPool::take_free() {
  if (free_.empty()) return std::nullopt;
  const BlockId block = free_.back();
  free_.pop_back();
  Entry& taken = entry(block);
  taken.references = 1;
  taken.place = Place::kReferenced;
  --num_unreferenced_;
  return block;
}

std::optional<BlockId> BlockPool::least_recently_used() const {
  if (evictable_.empty()) return std::nullopt;
  return evictable_.front();
}

void BlockPool::add_reference(BlockId block) {
  Entry& shared = entry(block);
  TRIREME_CHECK(shared.references > 0 || shared.cached) << "block " << block << " holds nothing to share";
  if (shared.references++ > 0) return;
  if (shared.place == Place::kEvictable) evictable_.erase(shared.in_evictable);
  shared.place = Place::kReferenced;
  --num_unreferenced_;
}

void BlockPool::drop_reference(BlockId block) {
  Entry& released = entry(block);
  TRIREME_CHECK(released.references > 0) << "block " << block << " is released twice";
  if (--released.references > 0) return;
  ++num_unreferenced_;
  released.hold_until = num_submitted_;
  if (num_completed_ >= released.hold_until) {
    make_available(block);
  } else {
    released.place = Place::kPending;
    pending_.push_back({block, released.hold_until});
  }
}

void BlockPool::set_cached(BlockId block, bool cached) {
  Entry& changed = entry(block);
  if (changed.cached == cached) return;
  changed.cached = cached;
  if (changed.place != Place::kEvictable) return;
  evictable_.erase(changed.in_evictable);
  changed.place = Place::kFree;
  free_.push_back(block);
}

void BlockPool::plan_completed() {
  ++num_completed_;
  TRIREME_CHECK(num_completed_ <= num_submitted_);
  while (!pending_.empty() && pending_.front().hold_until <= num_completed_) {
    const Pending oldest = pending_.front();
    pending_.pop_front();
    const Entry& waiting = entry(oldest.block);
    if (waiting.place == Place::kPending && waiting.hold_until == oldest.hold_until) make_available(oldest.block);
  }
}

void BlockPool::make_available(BlockId block) {
  Entry& available = entry(block);
  ++num_freed_;
  if (available.cached) {
    available.place = Place::kEvictable;
    available.in_evictable = evictable_.insert(evictable_.end(), block);
  } else {
    available.place = Place::kFree;
    free_.push_back(block);
  }
}

}  // namespace trireme::scheduler
