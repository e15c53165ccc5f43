#include "tests/kernels/backend_test.h"
#include "tests/kernels/test_cache.h"

namespace trireme::kernels {
namespace {

using base::DType;

struct Shape {
  std::int32_t head_dim = 64;
  std::int32_t kv_heads = 2;
  std::int32_t group = 3;
  float softcap = 0;
  std::int64_t window = 0;
};

class AttentionTest : public BackendTest {
 protected:
  // Queries, keys and values of one sequence of `length` tokens.
  struct Data {
    std::int64_t length;
    std::vector<float> queries, keys, values;
  };
  Data make(const Shape& shape, std::int64_t length) {
    const std::int64_t kv_size = shape.kv_heads * shape.head_dim;
    return {length, normal(length * kv_size * shape.group), normal(length * kv_size), normal(length * kv_size)};
  }

  // Stores and attends in chunks, so that slots of later tokens hold garbage while earlier rows are computed.
  static std::vector<float> run(Ops& ops, const Shape& shape, const Data& data, const CacheFormat& format,
                                std::int64_t chunk) {
    const std::int64_t num_blocks = (data.length + format.block_tokens - 1) / format.block_tokens;
    TestCache cache(format, shape.head_dim, shape.kv_heads, num_blocks);
    std::vector<std::int32_t> table(static_cast<std::size_t>(num_blocks));
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(7));
    const std::int64_t kv_size = shape.kv_heads * shape.head_dim, size = kv_size * shape.group;
    GuardedFloats output(data.length * size);
    for (std::int64_t begin = 0; begin < data.length; begin += chunk) {
      const std::int64_t rows = std::min(chunk, data.length - begin);
      const auto slots = cache.slots(table, begin, begin + rows);
      ops.kv_store({data.keys.data() + begin * kv_size, data.values.data() + begin * kv_size, kv_size, slots.data(),
                    cache.view(), rows},
                   kStream);
      const AttentionSequence sequence{0, rows, begin, table.data()};
      ops.attention({data.queries.data() + begin * size,
                     size,
                     output.data() + begin * size,
                     size,
                     cache.view(),
                     {&sequence, 1},
                     shape.kv_heads * shape.group,
                     1 / std::sqrt(static_cast<float>(shape.head_dim)),
                     shape.softcap,
                     shape.window},
                    kStream);
    }
    EXPECT_TRUE(output.guards_intact());
    return {output.span().begin(), output.span().end()};
  }

  // Values are below 6 in magnitude; scores (below about 12) err by head_dim * epsilon of |q||k| / sqrt(head_dim).
  void expect_close_to_reference(const Shape& shape, std::int64_t length, const CacheFormat& format,
                                 std::int64_t chunk) {
    SCOPED_TRACE(testing::Message() << "head_dim " << shape.head_dim << " length " << length << " chunk " << chunk
                                    << ' ' << base::to_string(format.key) << ' ' << base::to_string(format.value));
    const Data data = make(shape, length);
    const double score_error = shape.head_dim * kEpsilon * std::sqrt(static_cast<double>(shape.head_dim));
    const double bound = 6 * (2 * score_error + 300 * kEpsilon);
    expect_near(run(ops_, shape, data, format, chunk), run(*reference_, shape, data, format, length),
                [&](std::size_t) { return bound; });
  }
};

TEST_P(AttentionTest, AgreesWithReferenceInAllCacheFormats) {
  for (const DType key : {DType::kF32, DType::kF16, DType::kI8}) {
    for (const DType value : {DType::kF32, DType::kF16, DType::kI8}) {
      for (const std::int32_t block_tokens : {8, 80}) {
        expect_close_to_reference({64, 2, 2}, 90, {key, value, block_tokens}, 90);
      }
    }
  }
}

TEST_P(AttentionTest, AgreesWithReferenceForAllHeadSizesAndGroups) {
  for (const std::int32_t head_dim : {4, 8, 12, 16, 20, 32, 36, 48, 64, 68, 80, 96, 128, 256}) {
    expect_close_to_reference({head_dim, 1, 2}, 45, {}, 45);
  }
  for (const std::int32_t group : {1, 2, 4, 5, 7, 8, 12, 16, 71}) expect_close_to_reference({16, 2, group}, 40, {}, 17);
}

TEST_P(AttentionTest, AgreesWithReferenceAcrossPartitions) {
  for (const std::int64_t length : {1, 2, 31, 32, 33, 255, 256, 257, 600}) {
    expect_close_to_reference({16, 1, 2}, length, {}, length);
  }
}

TEST_P(AttentionTest, AgreesWithReferenceWithWindowsAndSoftcap) {
  for (const std::int64_t window : {1, 2, 31, 32, 100, 256, 300, 1000}) {
    expect_close_to_reference({16, 1, 2, 0.0f, window}, 600, {}, 600);
  }
  expect_close_to_reference({64, 1, 3, 2.0f, 0}, 300, {}, 300);
  expect_close_to_reference({64, 1, 3, 5.0f, 70}, 300, {}, 50);
}

TEST_P(AttentionTest, HasTheSameBitsForAnyChunkingBlockSizeAndNumberOfThreads) {
  Backend single(GetParam(), 1);
  for (const std::int64_t window : {0, 300}) {
    const Shape shape{32, 2, 3, 0.0f, window};
    const Data data = make(shape, GetParam() == "reference" ? 120 : 1400);
    const auto expected = run(ops_, shape, data, {}, data.length);
    for (const std::int64_t chunk : {7, 64, 255, 513}) {
      EXPECT_TRUE(same_bits(run(ops_, shape, data, {}, chunk), expected)) << chunk;
    }
    EXPECT_TRUE(same_bits(run(*single.ops, shape, data, {}, 100), expected));
    EXPECT_TRUE(same_bits(run(ops_, shape, data, {DType::kF16, DType::kI8, 80}, 500), expected));
    EXPECT_TRUE(same_bits(run(ops_, shape, data, {DType::kF16, DType::kI8, 4}, data.length), expected));
  }
}

// Tokens one at a time, far into the context: the tasks are cut along it, and merged.
TEST_P(AttentionTest, DecodesWithTheSameBitsAsPrefill) {
  const Shape shape{16, 1, 2};
  const Data data = make(shape, GetParam() == "reference" ? 100 : 2600);
  const std::int64_t size = 32;
  const auto expected = run(ops_, shape, data, {}, data.length);
  TestCache cache({}, 16, 1, (data.length + 7) / 8);
  std::vector<std::int32_t> table(static_cast<std::size_t>(cache.num_blocks()));
  std::iota(table.begin(), table.end(), 0);
  const auto slots = cache.slots(table, 0, data.length);
  ops_.kv_store({data.keys.data(), data.values.data(), 16, slots.data(), cache.view(), data.length}, kStream);
  // Several sequences in a step, of different lengths and rows, over the same cache.
  const std::int64_t last = data.length - 1;
  const std::vector<AttentionSequence> sequences{
      {0, 1, last, table.data()}, {1, 3, last / 2, table.data()}, {4, 0, 0, nullptr}, {5, 1, 0, table.data()}};
  std::vector<float> queries(6 * size), output(6 * size, 5.0f);
  const std::vector<std::int64_t> positions{last, last / 2, last / 2 + 1, last / 2 + 2, -1, 0};
  for (std::size_t r = 0; r < 6; ++r) {
    if (positions[r] >= 0)
      std::copy_n(data.queries.begin() + positions[r] * size, size,
                  queries.begin() + static_cast<std::int64_t>(r) * size);
  }
  ops_.attention({queries.data(), size, output.data(), size, cache.view(), sequences, 2, 0.25f, 0, 0}, kStream);
  for (std::size_t r = 0; r < 6; ++r) {
    if (positions[r] < 0) {
      EXPECT_EQ(output[r * 32], 5.0f);
      continue;
    }
    const auto row = static_cast<std::size_t>(positions[r] * size);
    EXPECT_TRUE(same_bits(std::span(output).subspan(r * 32, 32), std::span(expected).subspan(row, 32))) << r;
  }
}

TEST_P(AttentionTest, KeepsNotANumberFromEarlierRows) {
  const Shape shape{16, 1, 2};
  Data data = make(shape, 50);
  data.values[20 * 16 + 3] = std::nanf("");
  for (const CacheFormat& format : {CacheFormat{}, CacheFormat{DType::kF16, DType::kF16, 8}}) {
    const auto output = run(ops_, shape, data, format, 50);
    for (std::size_t r = 0; r < 50; ++r) {
      EXPECT_EQ(std::isnan(output[r * 32 + 3]), r >= 20) << r;
      EXPECT_EQ(std::isnan(output[r * 32 + 16 + 3]), r >= 20) << r;
    }
  }
}

TEST_P(AttentionTest, OfOneKeyIsItsValue) {
  const Shape shape{8, 1, 1};
  const Data data = make(shape, 1);
  EXPECT_TRUE(same_bits(run(ops_, shape, data, {DType::kF32, DType::kF32, 8}, 1), data.values));
}

TRIREME_FOR_FLOAT_BACKENDS(AttentionTest);

}  // namespace
}  // namespace trireme::kernels
