#include "kernels/reference/packed_element.h"
#include "tests/kernels/backend_test.h"
#include "tests/kernels/packed_weights.h"

namespace trireme::kernels {
namespace {

class EmbedTest : public BackendTest {};

TEST_P(EmbedTest, GivesScaledRowsOfTheTableExactly) {
  for (const WeightFormat type : {WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kBF16}) {
    const auto rows = normal(100 * 577);
    const PackedWeights table({type, 100, 577}, rows);
    const std::vector<std::int32_t> ids{0, 99, 31, 32, 5, 5};
    GuardedFloats output(6 * 577);
    ops_.embed({ids.data(), table.view(), 3.0f, output.data(), 6}, kStream);
    EXPECT_TRUE(output.guards_intact());
    for (std::int64_t r = 0; r < 6; ++r) {
      for (std::int64_t i = 0; i < 577; ++i) {
        const float value = rows[static_cast<std::size_t>(ids[static_cast<std::size_t>(r)] * 577 + i)];
        const float rounded = type == WeightFormat::kF32   ? value
                              : type == WeightFormat::kF16 ? base::f16_to_f32(base::f32_to_f16(value))
                                                           : base::bf16_to_f32(base::f32_to_bf16(value));
        ASSERT_EQ(output[r * 577 + i], 3.0f * rounded);
      }
    }
  }
}

TEST_P(EmbedTest, GivesTheElementsOfQuantisedTables) {
  for (const WeightFormat format :
       {WeightFormat::kInt8, WeightFormat::kQ8_0, WeightFormat::kQ4_0, WeightFormat::kQ4_1}) {
    const PackedWeights table({format, 40, 70}, normal(40 * 70));
    const std::vector<std::int32_t> ids{39, 0, 31};
    GuardedFloats output(3 * 70);
    ops_.embed({ids.data(), table.view(), 3.0f, output.data(), 3}, kStream);
    EXPECT_TRUE(output.guards_intact());
    for (std::int64_t r = 0; r < 3; ++r) {
      for (std::int64_t i = 0; i < 70; ++i) {
        const float element = reference::packed_element(table.view(), ids[static_cast<std::size_t>(r)], i);
        ASSERT_EQ(output[r * 70 + i], 3.0f * element) << to_string(format);
      }
    }
  }
}

TRIREME_FOR_FLOAT_BACKENDS(EmbedTest);

}  // namespace
}  // namespace trireme::kernels
