#include <limits>

#include "tests/kernels/backend_test.h"
#include "tests/kernels/test_cache.h"

namespace trireme::kernels {
namespace {

using base::DType;

class KvStoreTest : public BackendTest {};

TEST_P(KvStoreTest, WritesTheSameBytesAsReferenceInAllFormats) {
  for (const DType key : {DType::kF32, DType::kF16, DType::kI8}) {
    for (const DType value : {DType::kF32, DType::kF16, DType::kI8}) {
      for (const std::int32_t head_dim : {4, 12, 20, 64, 80, 128}) {
        TestCache actual({key, value, 8}, head_dim, 2, 10), expected({key, value, 8}, head_dim, 2, 10);
        const std::int64_t rows = 40, stride = 4 * head_dim + 3;
        const auto input = normal(rows * stride, 30.0f);
        auto slots = actual.slots({7, 0, 9, 3, 4}, 0, rows);
        const float* keys = input.data();
        const float* values = input.data() + 2 * head_dim;
        ops_.kv_store({keys, values, stride, slots.data(), actual.view(), rows}, kStream);
        reference_->kv_store({keys, values, stride, slots.data(), expected.view(), rows}, kStream);
        EXPECT_EQ(std::memcmp(actual.memory().data(), expected.memory().data(), actual.memory().size()), 0)
            << base::to_string(key) << ' ' << base::to_string(value) << ' ' << head_dim;
      }
    }
  }
}

TEST_P(KvStoreTest, QuantisesToTheFormatOfItsContract) {
  TestCache cache({DType::kI8, DType::kF16, 4}, 4, 1, 1);
  const std::vector<float> keys{127.0f, -63.5f, 0.5f, 1.5f}, values{1.0f, 65504.0f, 1e-8f, -2.5f};
  const std::int64_t slot = 2;
  ops_.kv_store({keys.data(), values.data(), 4, &slot, cache.view(), 1}, kStream);
  const KvChunkLayout& layout = cache.view().layout;
  const auto* key = reinterpret_cast<const std::int8_t*>(cache.view().base + layout.key_offset) + 2;  // a token in 4
  EXPECT_EQ(reinterpret_cast<const float*>(cache.view().base + layout.key_scale_offset)[2], 1.0f);
  EXPECT_EQ((std::vector<int>{key[0], key[4], key[8], key[12]}), (std::vector<int>{127, -64, 0, 2}));  // ties to even
  const auto* half = reinterpret_cast<const std::uint16_t*>(cache.view().base + layout.value_offset) + 2 * 4;
  EXPECT_EQ((std::vector<int>(half, half + 4)), (std::vector<int>{0x3C00, 0x7BFF, 0, 0xC100}));
}

TEST_P(KvStoreTest, KeepsZeroTinyAndNonFiniteRowsRecognisable) {
  TestCache cache({DType::kI8, DType::kI8, 4}, 4, 1, 1);
  const float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity(), tiny = 1e-45f;
  const std::vector<float> rows{0, 0, 0, 0, 1, nan, 2, 3, 1, -infinity, 2, 3, tiny, 0, 0, 0};
  const std::vector<std::int64_t> slots{0, 1, 2, 3};
  ops_.kv_store({rows.data(), rows.data(), 4, slots.data(), cache.view(), 4}, kStream);
  const KvChunkLayout& layout = cache.view().layout;
  const auto* scales = reinterpret_cast<const float*>(cache.view().base + layout.value_scale_offset);
  const auto* q = reinterpret_cast<const std::int8_t*>(cache.view().base + layout.value_offset);
  EXPECT_EQ(scales[0], 0.0f);
  EXPECT_TRUE(std::isnan(scales[1]));
  EXPECT_TRUE(std::isnan(scales[2]));
  EXPECT_EQ(scales[3], 0.0f);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(q[i], 0);
}

TRIREME_FOR_FLOAT_BACKENDS(KvStoreTest);

}  // namespace
}  // namespace trireme::kernels
