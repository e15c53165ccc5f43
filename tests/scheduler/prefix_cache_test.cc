#include "scheduler/prefix_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace trireme::scheduler {
namespace {

using testing::ElementsAre;
constexpr std::int32_t kBlockTokens = 4;

std::vector<TokenId> count_up(std::int32_t n) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

// Caches `tokens` in blocks first, first + 1, ...: of the same number in every group.
void cache(PrefixCache& cache, const std::vector<TokenId>& tokens, std::int32_t first, std::size_t num_groups = 1,
           const std::string& tenant = "") {
  PrefixCache::NodeId node = cache.root(tenant);
  std::vector<GroupBlock> attached;
  std::span<const TokenId> rest(tokens);
  for (; !rest.empty(); ++first) {
    const auto part = rest.first(std::min<std::size_t>(rest.size(), kBlockTokens));
    node = cache.insert(node, part, std::vector<BlockId>(num_groups, BlockId{first}), attached);
    rest = rest.subspan(part.size());
  }
}

PrefixCache::Match match(const PrefixCache& cache, const std::vector<TokenId>& tokens) {
  return cache.match("", tokens, MatchExtent::kPartialBlock);
}

TEST(PrefixCacheTest, FindsTheWholeBlocksOfAPrefix) {
  PrefixCache cached(kBlockTokens, {{0, 10}});
  cache(cached, count_up(8), 5);
  std::vector<TokenId> tokens = count_up(8);
  tokens.push_back(77);
  const PrefixCache::Match found = match(cached, tokens);
  EXPECT_EQ(found.num_blocks, 2);
  EXPECT_EQ(found.partial_tokens, 0);
  EXPECT_THAT(found.blocks[0], ElementsAre(BlockId{5}, BlockId{6}));
}

TEST(PrefixCacheTest, OffersTheBlockThatSharesMostTokensForACopy) {
  PrefixCache cached(kBlockTokens, {{0, 10}});
  cache(cached, {0, 1, 2, 3}, 0);
  cache(cached, {0, 1, 9, 9}, 1);
  cache(cached, {0, 8, 9, 9}, 2);
  const PrefixCache::Match found = match(cached, {0, 1, 2, 7, 7});
  EXPECT_EQ(found.num_blocks, 0);
  EXPECT_EQ(found.partial_tokens, 3);
  EXPECT_THAT(found.partial_sources, ElementsAre(BlockId{0}));
  EXPECT_EQ(match(cached, {0, 1, 9}).partial_sources[0], BlockId{1});
  EXPECT_EQ(match(cached, {5}).partial_tokens, 0);
  EXPECT_EQ(cached.match("", std::vector<TokenId>{0, 1, 2}, MatchExtent::kWholeBlocks).partial_tokens, 0);
}

TEST(PrefixCacheTest, OffersTheFilledPartOfALastBlock) {
  PrefixCache cached(kBlockTokens, {{0, 10}});
  cache(cached, count_up(6), 3);
  const PrefixCache::Match found = match(cached, count_up(9));
  EXPECT_EQ(found.num_blocks, 1);
  EXPECT_EQ(found.partial_tokens, 2);
  EXPECT_THAT(found.partial_sources, ElementsAre(BlockId{4}));
}

TEST(PrefixCacheTest, KeepsTenantsApart) {
  PrefixCache cached(kBlockTokens, {{0, 10}});
  cache(cached, count_up(8), 0, 1, "a");
  EXPECT_EQ(cached.match("b", count_up(8), MatchExtent::kPartialBlock).num_blocks, 0);
  EXPECT_EQ(cached.match("a", count_up(8), MatchExtent::kPartialBlock).num_blocks, 2);
}

TEST(PrefixCacheTest, TheFirstBlockWithTheSameTokensStays) {
  PrefixCache cached(kBlockTokens, {{0, 10}});
  cache(cached, count_up(4), 0);
  std::vector<GroupBlock> attached;
  cached.insert(cached.root(""), count_up(4), std::vector<BlockId>{BlockId{9}}, attached);
  EXPECT_TRUE(attached.empty());
  EXPECT_THAT(match(cached, count_up(5)).blocks[0], ElementsAre(BlockId{0}));
}

TEST(PrefixCacheTest, ForgettingABlockForgetsAllBehindIt) {
  PrefixCache cached(kBlockTokens, {{0, 10}});
  cache(cached, count_up(12), 0);
  std::vector<GroupBlock> detached;
  cached.forget({0, BlockId{1}}, detached);
  EXPECT_EQ(detached.size(), 2u);
  EXPECT_EQ(match(cached, count_up(12)).num_blocks, 1);
  detached.clear();
  cached.forget({0, BlockId{0}}, detached);
  EXPECT_EQ(match(cached, count_up(12)).num_blocks, 0);
}

TEST(PrefixCacheTest, AWindowGroupNeedsOnlyTheBlocksOfItsLastWindow) {
  PrefixCache cached(kBlockTokens, {{0, 10}, {5, 10}});
  cache(cached, count_up(16), 0, 2);
  std::vector<GroupBlock> detached;
  cached.forget({1, BlockId{0}}, detached);
  cached.forget({1, BlockId{1}}, detached);
  EXPECT_EQ(detached.size(), 2u);
  std::vector<TokenId> tokens = count_up(16);
  tokens.push_back(77);
  const PrefixCache::Match found = match(cached, tokens);
  EXPECT_EQ(found.num_blocks, 4);
  EXPECT_THAT(found.blocks[0], ElementsAre(BlockId{0}, BlockId{1}, BlockId{2}, BlockId{3}));
  EXPECT_THAT(found.blocks[1], ElementsAre(kNoBlock, kNoBlock, kNoBlock, BlockId{3}));
}

TEST(PrefixCacheTest, AHoleInTheLastWindowShortensTheHit) {
  PrefixCache cached(kBlockTokens, {{0, 10}, {6, 10}});
  cache(cached, count_up(16), 0, 2);
  std::vector<GroupBlock> detached;
  cached.forget({1, BlockId{2}}, detached);
  std::vector<TokenId> tokens = count_up(16);
  tokens.push_back(77);
  // After 16 tokens the window begins at 11, after 12 at 7: both need block 2. After 8 it begins at 3.
  const PrefixCache::Match found = match(cached, tokens);
  EXPECT_EQ(found.num_blocks, 2);
  EXPECT_EQ(found.partial_tokens, 0);
}

TEST(PrefixCacheTest, AHoleIsFilledByTheNextThatComputesTheSameTokens) {
  PrefixCache cached(kBlockTokens, {{0, 10}, {5, 10}});
  cache(cached, count_up(4), 0, 2);
  std::vector<GroupBlock> detached, attached;
  cached.forget({1, BlockId{0}}, detached);
  cached.insert(cached.root(""), count_up(4), std::vector<BlockId>{BlockId{7}, BlockId{8}}, attached);
  ASSERT_EQ(attached.size(), 1u);
  EXPECT_EQ(attached[0].group, 1u);
  EXPECT_EQ(match(cached, count_up(5)).blocks[1][0], BlockId{8});
}

TEST(PrefixCacheTest, WithoutFullAttentionABlockMayGoBeforeThoseBehindIt) {
  PrefixCache cached(kBlockTokens, {{4, 10}});
  cache(cached, count_up(12), 0);
  std::vector<GroupBlock> detached;
  cached.forget({0, BlockId{0}}, detached);
  EXPECT_EQ(detached.size(), 1u);
  std::vector<TokenId> tokens = count_up(12);
  tokens.push_back(77);
  EXPECT_THAT(match(cached, tokens).blocks[0], ElementsAre(kNoBlock, kNoBlock, BlockId{2}));
}

}  // namespace
}  // namespace trireme::scheduler
