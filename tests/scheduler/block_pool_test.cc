#include "scheduler/block_pool.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace trireme::scheduler {
namespace {

TEST(BlockPoolTest, HandsOutEachBlockOnce) {
  BlockPool pool(3);
  std::vector<bool> seen(3, false);
  for (int i = 0; i < 3; ++i) {
    const auto block = pool.take_free();
    ASSERT_TRUE(block);
    EXPECT_FALSE(seen[static_cast<std::size_t>(block->value)]);
    seen[static_cast<std::size_t>(block->value)] = true;
  }
  EXPECT_FALSE(pool.take_free());
  EXPECT_EQ(pool.num_unreferenced(), 0);
}

TEST(BlockPoolTest, ASharedBlockIsFreeWhenItsLastUserEnds) {
  BlockPool pool(1);
  const BlockId block = *pool.take_free();
  pool.add_reference(block);
  pool.drop_reference(block);
  EXPECT_EQ(pool.num_available(), 0);
  pool.drop_reference(block);
  EXPECT_EQ(pool.num_available(), 1);
}

TEST(BlockPoolTest, AReleasedBlockWaitsForThePlansSubmittedBefore) {
  BlockPool pool(1);
  const BlockId block = *pool.take_free();
  pool.plan_submitted();
  pool.plan_submitted();
  pool.drop_reference(block);
  pool.plan_submitted();  // cannot refer to it
  pool.plan_completed();
  EXPECT_FALSE(pool.take_free());
  EXPECT_EQ(pool.num_pending(), 1);
  pool.plan_completed();
  EXPECT_EQ(pool.num_pending(), 0);
  EXPECT_TRUE(pool.take_free());
}

TEST(BlockPoolTest, CachedBlocksAreEvictedInOrderOfRelease) {
  BlockPool pool(3);
  const BlockId a = *pool.take_free(), b = *pool.take_free(), c = *pool.take_free();
  for (const BlockId block : {a, b, c}) pool.set_cached(block, true);
  for (const BlockId block : {b, a, c}) pool.drop_reference(block);
  EXPECT_FALSE(pool.take_free());
  EXPECT_EQ(pool.num_available(), 3);
  EXPECT_EQ(pool.least_recently_used(), b);
  pool.add_reference(b);  // used again
  pool.drop_reference(b);
  EXPECT_EQ(pool.least_recently_used(), a);
  pool.set_cached(a, false);
  EXPECT_EQ(pool.take_free(), a);
}

TEST(BlockPoolTest, ABlockUsedAgainWhilePendingIsNotHandedOut) {
  BlockPool pool(1);
  const BlockId block = *pool.take_free();
  pool.set_cached(block, true);
  pool.plan_submitted();
  pool.drop_reference(block);
  pool.add_reference(block);  // a prefix hit
  pool.plan_completed();
  EXPECT_EQ(pool.num_available(), 0);
  EXPECT_FALSE(pool.least_recently_used());
  pool.drop_reference(block);
  EXPECT_EQ(pool.least_recently_used(), block);
}

TEST(BlockPoolTest, ReleasingTwiceIsAMistake) {
  BlockPool pool(1);
  const BlockId block = *pool.take_free();
  pool.drop_reference(block);
  EXPECT_THROW(pool.drop_reference(block), base::CheckFailure);
  EXPECT_THROW(pool.add_reference(block), base::CheckFailure);
}

}  // namespace
}  // namespace trireme::scheduler
