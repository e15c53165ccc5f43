#include "runtime/kv_cache/chunk_layout.h"

#include <gtest/gtest.h>

namespace trireme::kv_cache {
namespace {

using base::DType;

TEST(ChunkLayout, TakesTheLargestMultipleOfFourThatFits) {
  EXPECT_EQ(make_chunk_layout({}, 64)->block_tokens, 80);
  EXPECT_EQ(make_chunk_layout({}, 128)->block_tokens, 40);
  EXPECT_EQ(make_chunk_layout({}, 256)->block_tokens, 20);
  EXPECT_EQ(make_chunk_layout({16384, 0, DType::kF32, DType::kF32}, 64)->block_tokens, 32);
}

TEST(ChunkLayout, PartsDoNotOverlapAndStayInTheChunk) {
  for (const DType key : {DType::kF32, DType::kF16, DType::kI8}) {
    for (const DType value : {DType::kF32, DType::kF16, DType::kI8}) {
      for (const int head_dim : {16, 32, 64, 80, 96, 128, 256}) {
        const auto layout = make_chunk_layout({16384, 0, key, value}, head_dim);
        ASSERT_TRUE(layout.ok());
        const auto elements = static_cast<std::size_t>(layout->block_tokens * head_dim);
        EXPECT_GE(layout->value_offset, static_cast<int>(elements * base::size_bytes(key)));
        EXPECT_GE(layout->key_scale_offset,
                  layout->value_offset + static_cast<int>(elements * base::size_bytes(value)));
        const int key_scales = key == DType::kI8 ? 4 * layout->block_tokens : 0;
        EXPECT_GE(layout->value_scale_offset, layout->key_scale_offset + key_scales);
        const int value_scales = value == DType::kI8 ? 4 * layout->block_tokens : 0;
        EXPECT_LE(layout->value_scale_offset + value_scales, 16384);
        for (const int offset : {layout->value_offset, layout->key_scale_offset, layout->value_scale_offset}) {
          EXPECT_EQ(offset % 16, 0);
        }
      }
    }
  }
}

TEST(ChunkLayout, RefusesBlocksThatDoNotFitOrAreNoMultipleOfFour) {
  EXPECT_TRUE(make_chunk_layout({16384, 8}, 64).ok());
  EXPECT_FALSE(make_chunk_layout({16384, 84}, 64).ok());
  EXPECT_FALSE(make_chunk_layout({16384, 6}, 64).ok());
  const auto small = make_chunk_layout({512, 0}, 64);
  ASSERT_FALSE(small.ok());
  EXPECT_NE(small.error().message.find("kv_cache.chunk_bytes"), std::string::npos);
}

}  // namespace
}  // namespace trireme::kv_cache
