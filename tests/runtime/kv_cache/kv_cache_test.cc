#include "runtime/kv_cache/kv_cache.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/kv_cache/chunk_layout.h"

namespace trireme::kv_cache {
namespace {

KvCacheShape two_group_shape() {
  KvCacheShape shape;
  shape.layout = *make_chunk_layout({512, 4}, 16);
  shape.chunk_bytes = 512;
  shape.num_kv_heads = 2;
  shape.layer_group = {0, 1, 0};
  shape.num_blocks = {5, 3};
  return shape;
}

TEST(KvCache, EveryChunkHasItsOwnPlace) {
  KvCache cache(two_group_shape());
  EXPECT_EQ(cache.bytes(), (5 * 2 + 3 * 1) * 2 * 512);
  std::set<std::byte*> places;
  for (int layer = 0; layer < 3; ++layer) {
    const auto view = cache.layer_view(layer);
    for (int block = 0; block < cache.num_blocks(cache.group_of_layer(layer)); ++block) {
      for (int head = 0; head < 2; ++head) {
        std::byte* chunk = view.chunk(block, head);
        EXPECT_TRUE(places.insert(chunk).second);
        std::fill(chunk, chunk + 512, std::byte{static_cast<unsigned char>(places.size())});
      }
    }
  }
  EXPECT_EQ(places.size(), 26u);
  unsigned char expected = 0;
  for (int layer = 0; layer < 3; ++layer) {
    const auto view = cache.layer_view(layer);
    for (int block = 0; block < cache.num_blocks(cache.group_of_layer(layer)); ++block) {
      for (int head = 0; head < 2; ++head) EXPECT_EQ(view.chunk(block, head)[511], std::byte{++expected});
    }
  }
}

TEST(KvCache, CopiesABlockInAllLayersOfItsGroupOnly) {
  KvCache cache(two_group_shape());
  for (const int layer : {0, 1, 2})
    cache.layer_view(layer).chunk(1, 1)[7] = std::byte{static_cast<unsigned char>(layer + 1)};
  cache.copy_block(0, 1, 2);
  EXPECT_EQ(cache.layer_view(0).chunk(2, 1)[7], std::byte{1});
  EXPECT_EQ(cache.layer_view(2).chunk(2, 1)[7], std::byte{3});
  EXPECT_EQ(cache.layer_view(1).chunk(2, 1)[7], std::byte{0});
}

}  // namespace
}  // namespace trireme::kv_cache
