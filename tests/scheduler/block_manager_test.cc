#include "scheduler/block_manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace trireme::scheduler {
namespace {

const std::string kTenant;

std::vector<TokenId> count_up(std::int32_t n) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST(BlockManagerTest, AWindowGroupNeedsNoMoreThanItsWindowTouches) {
  const BlockManager blocks(4, {{0, 100}, {6, 100}}, true);
  EXPECT_EQ(blocks.blocks_needed(0, 41), 11);
  EXPECT_EQ(blocks.blocks_needed(1, 41), 3);  // positions 3..8 touch the blocks 0, 1 and 2
  EXPECT_EQ(blocks.blocks_needed(1, 5), 2);
}

TEST(BlockManagerTest, TheTightestGroupLimitsTheTokensThatFit) {
  BlockManager blocks(4, {{0, 10}, {6, 3}}, true);
  BlockTables tables = blocks.empty_tables();
  EXPECT_EQ(blocks.tokens_that_fit(tables, 0, 100), 12);
  blocks.extend(tables, 5);
  EXPECT_EQ(blocks.tokens_that_fit(tables, 5, 100), 7);
  EXPECT_EQ(blocks.tokens_that_fit(tables, 5, 2), 2);
}

TEST(BlockManagerTest, TellsTheStagesEachNewBlockOnce) {
  BlockManager blocks(4, {{0, 10}}, true);
  BlockTables tables = blocks.empty_tables();
  std::vector<BlockAppend> appended;
  blocks.extend(tables, 5);
  blocks.send_new_blocks(SequenceId{1}, tables, appended);
  blocks.extend(tables, 8);
  blocks.send_new_blocks(SequenceId{1}, tables, appended);
  blocks.extend(tables, 9);
  blocks.send_new_blocks(SequenceId{1}, tables, appended);
  ASSERT_EQ(appended.size(), 2u);
  EXPECT_EQ(appended[0].blocks.size(), 2u);
  EXPECT_EQ(appended[1].blocks.size(), 1u);
}

TEST(BlockManagerTest, FreesBlocksAsTheWindowPasses) {
  BlockManager blocks(4, {{0, 10}, {5, 10}}, false);
  BlockTables tables = blocks.empty_tables();
  blocks.extend(tables, 16);
  blocks.pass_window(tables, 11);  // sees 7..11
  EXPECT_EQ(blocks.pool(1).num_available(), 7);
  blocks.pass_window(tables, 12);  // sees 8..12
  EXPECT_EQ(blocks.pool(1).num_available(), 8);
  EXPECT_EQ(blocks.pool(0).num_available(), 6);
  blocks.release(tables);
  EXPECT_EQ(blocks.pool(0).num_available(), 10);
  EXPECT_EQ(blocks.pool(1).num_available(), 10);
}

TEST(BlockManagerTest, SharesAComputedPrefixAndCopiesAPart) {
  BlockManager blocks(4, {{0, 10}}, true);
  const std::vector<TokenId> tokens = count_up(10);
  BlockTables first = blocks.empty_tables();
  blocks.extend(first, 10);
  CacheCursor cursor;
  blocks.cache_computed({kTenant, tokens}, first, cursor, true);
  EXPECT_EQ(cursor.num_blocks, 2);

  BlockTables second = blocks.empty_tables();
  PrefixReuse reuse = blocks.reuse_prefix({kTenant, tokens}, MatchExtent::kPartialBlock, second);
  EXPECT_EQ(reuse.shared_tokens, 8);
  EXPECT_EQ(reuse.copied_tokens, 2);
  EXPECT_EQ(reuse.sources[0], first[0].blocks[2]);
  EXPECT_EQ(second[0].blocks[1], first[0].blocks[1]);
  blocks.release(first);
  EXPECT_EQ(blocks.pool(0).num_available(), 7);  // two are shared, one is to be copied
  blocks.release_sources(reuse);
  blocks.release(second);
  EXPECT_EQ(blocks.pool(0).num_available(), 10);
}

TEST(BlockManagerTest, EvictsTheEndOfAPrefixBeforeItsBeginning) {
  BlockManager blocks(4, {{0, 3}}, true);
  const std::vector<TokenId> tokens = count_up(12);
  BlockTables first = blocks.empty_tables();
  blocks.extend(first, 12);
  CacheCursor cursor;
  blocks.cache_computed({kTenant, tokens}, first, cursor, false);
  blocks.release(first);

  BlockTables other = blocks.empty_tables();
  blocks.extend(other, 4);
  BlockTables second = blocks.empty_tables();
  EXPECT_EQ(blocks.reuse_prefix({kTenant, tokens}, MatchExtent::kPartialBlock, second).shared_tokens, 8);
}

TEST(BlockManagerTest, ForgottenBlocksAreNotSharedButStayWithTheirUsers) {
  BlockManager blocks(4, {{0, 3}}, true);
  const std::vector<TokenId> tokens = count_up(4);
  BlockTables first = blocks.empty_tables();
  blocks.extend(first, 4);
  CacheCursor cursor;
  blocks.cache_computed({kTenant, tokens}, first, cursor, false);
  blocks.forget(first);
  BlockTables second = blocks.empty_tables();
  EXPECT_EQ(blocks.reuse_prefix({kTenant, tokens}, MatchExtent::kPartialBlock, second).shared_tokens, 0);
  EXPECT_EQ(blocks.pool(0).num_available(), 2);
}

TEST(BlockManagerTest, WithoutAPrefixCacheNothingIsKept) {
  BlockManager blocks(4, {{0, 3}}, false);
  const std::vector<TokenId> tokens = count_up(8);
  BlockTables first = blocks.empty_tables();
  blocks.extend(first, 8);
  CacheCursor cursor;
  blocks.cache_computed({kTenant, tokens}, first, cursor, true);
  BlockTables second = blocks.empty_tables();
  EXPECT_EQ(blocks.reuse_prefix({kTenant, tokens}, MatchExtent::kPartialBlock, second).shared_tokens, 0);
}

}  // namespace
}  // namespace trireme::scheduler
