#include <utility>

#include "tests/kernels/backend_test.h"
#include "tests/kernels/packed_weights.h"

namespace trireme::kernels {
namespace {

std::vector<float> absolute(std::vector<float> values) {
  for (float& value : values) value = std::abs(value);
  return values;
}

struct LinearCase {
  WeightFormat type = WeightFormat::kF16;
  std::int64_t rows = 1, in = 1, out = 1;
  OutputMode mode = OutputMode::kOverwrite;
  bool has_bias = false;
};

class LinearTest : public BackendTest {
 protected:
  struct Data {
    std::vector<float> input, weights, bias, output;
  };
  Data make(const LinearCase& c) {
    return {normal(c.rows * c.in), normal(c.out * c.in), normal(c.out), normal(c.rows * c.out)};
  }

  static std::vector<float> run(Ops& ops, const LinearCase& c, const Data& data, std::int64_t padding = 0) {
    const PackedWeights weights({c.type, c.out, c.in}, data.weights);
    GuardedFloats output(c.rows * (c.out + padding) - padding, 99.0f);
    for (std::int64_t r = 0; r < c.rows; ++r) {
      std::copy_n(data.output.data() + r * c.out, c.out, output.data() + r * (c.out + padding));
    }
    ops.linear({data.input.data(), c.in, weights.view(), c.has_bias ? data.bias.data() : nullptr, output.data(),
                c.out + padding, c.rows, c.mode},
               kStream);
    EXPECT_TRUE(output.guards_intact());
    std::vector<float> rows;
    for (std::int64_t r = 0; r < c.rows; ++r) {
      const float* row = output.data() + r * (c.out + padding);
      rows.insert(rows.end(), row, row + c.out);
      for (std::int64_t i = 0; i < padding && r + 1 < c.rows; ++i) EXPECT_EQ(row[c.out + i], 99.0f);
    }
    return rows;
  }

  // The bound of a chain of fused multiply-adds: (length + 2) * epsilon * (sum of magnitudes).
  void expect_close_to_reference(const LinearCase& c) {
    SCOPED_TRACE(testing::Message() << to_string(c.type) << " rows " << c.rows << " in " << c.in << " out " << c.out);
    const Data data = make(c);
    const auto magnitude =
        run(*reference_, c, {absolute(data.input), absolute(data.weights), absolute(data.bias), absolute(data.output)});
    expect_near(run(ops_, c, data, 3), run(*reference_, c, data),
                [&](std::size_t i) { return static_cast<double>(c.in + 2) * kEpsilon * magnitude[i]; });
  }
};

TEST_P(LinearTest, AgreesWithReferenceAtAllSmallSizes) {
  for (const std::int64_t size : {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65}) {
    for (const std::int64_t rows : {1, 2, 5}) {
      expect_close_to_reference({WeightFormat::kF16, rows, size, 40});
      expect_close_to_reference({WeightFormat::kF16, rows, 24, size});
    }
  }
}

TEST_P(LinearTest, AgreesWithReferenceForAnyNumberOfRows) {
  for (std::int64_t rows = 1; rows <= 30; ++rows) expect_close_to_reference({WeightFormat::kF16, rows, 70, 70});
  expect_close_to_reference({WeightFormat::kF16, 400, 300, 33});
}

TEST_P(LinearTest, AgreesWithReferenceForAllWeightTypesModesAndModelShapes) {
  for (const WeightFormat type : {WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kBF16}) {
    for (const std::int64_t rows : {1, 13}) {
      expect_close_to_reference({type, rows, 576, 192});
      expect_close_to_reference({type, rows, 1536, 96, OutputMode::kAdd});
      expect_close_to_reference({type, rows, 640, 100, OutputMode::kOverwrite, true});
      expect_close_to_reference({type, rows, 640, 100, OutputMode::kAdd, true});
    }
  }
}

TEST_P(LinearTest, GivesARowTheSameBitsWhateverTheNumberOfRowsAndThreads) {
  for (const WeightFormat type : {WeightFormat::kF32, WeightFormat::kF16, WeightFormat::kBF16}) {
    const LinearCase all{type, 800, 300, 70, OutputMode::kAdd, true};
    const Data data = make(all);
    Backend single(GetParam(), 1);
    const auto expected = run(ops_, all, data);
    EXPECT_TRUE(same_bits(expected, run(*single.ops, all, data)));
    for (const auto& [begin, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 1}, {799, 1}, {3, 2}, {5, 4}, {50, 5}, {100, 12}, {200, 13}, {300, 64}, {10, 385}}) {
      LinearCase part = all;
      part.rows = rows;
      const auto slice = [&](const std::vector<float>& v, std::int64_t width) {
        return std::vector<float>(v.begin() + begin * width, v.begin() + (begin + rows) * width);
      };
      EXPECT_TRUE(
          same_bits(run(ops_, part, {slice(data.input, all.in), data.weights, data.bias, slice(data.output, all.out)}),
                    slice(expected, all.out)))
          << begin << ' ' << rows;
    }
  }
}

TEST_P(LinearTest, IsTheChainOfFusedMultiplyAddsOfItsContract) {
  if (GetParam() == "reference") GTEST_SKIP() << "the reference sums in double";
  const LinearCase c{WeightFormat::kF32, 14, 777, 40, OutputMode::kAdd, true};
  const Data data = make(c);
  std::vector<float> expected = data.output;
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t o = 0; o < c.out; ++o) {
      float sum = 0;
      for (std::int64_t i = 0; i < c.in; ++i) {
        sum = std::fma(data.input[static_cast<std::size_t>(r * c.in + i)],
                       data.weights[static_cast<std::size_t>(o * c.in + i)], sum);
      }
      expected[static_cast<std::size_t>(r * c.out + o)] += sum + data.bias[static_cast<std::size_t>(o)];
    }
  }
  EXPECT_TRUE(same_bits(run(ops_, c, data), expected));
}

TEST_P(LinearTest, KeepsNotANumberInItsRow) {
  const LinearCase c{WeightFormat::kF16, 14, 64, 40};
  Data data = make(c);
  data.input[5 * 64 + 3] = std::nanf("");
  const auto output = run(ops_, c, data);
  for (std::int64_t r = 0; r < c.rows; ++r) {
    for (std::int64_t o = 0; o < c.out; ++o)
      EXPECT_EQ(std::isnan(output[static_cast<std::size_t>(r * c.out + o)]), r == 5);
  }
}

TEST_P(LinearTest, AllowsZeroRows) {
  const PackedWeights weights({WeightFormat::kF16, 3, 2}, std::vector<float>(6, 1.0f));
  ops_.linear({nullptr, 2, weights.view(), nullptr, nullptr, 3, 0, OutputMode::kOverwrite}, kStream);
}

TRIREME_FOR_FLOAT_BACKENDS(LinearTest);

}  // namespace
}  // namespace trireme::kernels
