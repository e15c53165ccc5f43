// Linear with quantised weights: whole-number sums, so every back end gives the bits of the reference.
#include <limits>
#include <utility>

#include "tests/kernels/backend_test.h"
#include "tests/kernels/packed_weights.h"

namespace trireme::kernels {
namespace {

constexpr WeightFormat kQuantisedFormats[] = {WeightFormat::kInt8, WeightFormat::kQ8_0, WeightFormat::kQ4_0,
                                              WeightFormat::kQ4_1};

struct Case {
  WeightFormat format = WeightFormat::kInt8;
  std::int64_t rows = 1, in = 1, out = 1;
  OutputMode mode = OutputMode::kOverwrite;
  bool has_bias = false;
};

class QuantisedLinearTest : public BackendTest {
 protected:
  struct Data {
    std::vector<float> input, weights, bias, output;
  };
  Data make(const Case& c) {
    return {normal(c.rows * c.in), normal(c.out * c.in), normal(c.out), normal(c.rows * c.out)};
  }

  // The rows of the output, after a check that nothing beside them was written.
  static std::vector<float> run(Ops& ops, const Case& c, const Data& data) {
    constexpr std::int64_t kPadding = 3;
    const PackedWeights weights({c.format, c.out, c.in}, data.weights);
    GuardedFloats output(c.rows * (c.out + kPadding), 99.0f);
    for (std::int64_t r = 0; r < c.rows; ++r) {
      std::copy_n(data.output.data() + r * c.out, c.out, output.data() + r * (c.out + kPadding));
    }
    ops.linear({data.input.data(), c.in, weights.view(), c.has_bias ? data.bias.data() : nullptr, output.data(),
                c.out + kPadding, c.rows, c.mode},
               kStream);
    EXPECT_TRUE(output.guards_intact());
    std::vector<float> rows;
    for (std::int64_t r = 0; r < c.rows; ++r) {
      const float* row = output.data() + r * (c.out + kPadding);
      rows.insert(rows.end(), row, row + c.out);
      for (std::int64_t i = 0; i < kPadding; ++i) EXPECT_EQ(row[c.out + i], 99.0f);
    }
    return rows;
  }

  void expect_reference_bits(const Case& c) {
    SCOPED_TRACE(testing::Message() << to_string(c.format) << " rows " << c.rows << " in " << c.in << " out " << c.out);
    const Data data = make(c);
    const auto actual = run(ops_, c, data), expected = run(*reference_, c, data);
    EXPECT_TRUE(same_bits(actual, expected));
  }
};

TEST_P(QuantisedLinearTest, HasTheBitsOfTheReferenceAtAllSmallSizes) {
  for (const WeightFormat format : kQuantisedFormats) {
    for (const std::int64_t size : {1, 3, 4, 5, 16, 31, 32, 33, 63, 64, 65, 96, 129}) {
      for (const std::int64_t rows : {1, 3, 17}) {
        expect_reference_bits({format, rows, size, 40});
        expect_reference_bits({format, rows, 40, size});
      }
    }
  }
}

TEST_P(QuantisedLinearTest, HasTheBitsOfTheReferenceForAnyNumberOfRows) {
  for (const WeightFormat format : kQuantisedFormats) {
    for (std::int64_t rows = 1; rows <= 34; ++rows) expect_reference_bits({format, rows, 33, 37});
    expect_reference_bits({format, 403, 64, 33});
  }
}

TEST_P(QuantisedLinearTest, HasTheBitsOfTheReferenceForModesAndModelShapes) {
  for (const WeightFormat format : kQuantisedFormats) {
    for (const std::int64_t rows : {1, 13}) {
      expect_reference_bits({format, rows, 576, 96});
      expect_reference_bits({format, rows, 1536, 32, OutputMode::kAdd});
      expect_reference_bits({format, rows, 640, 40, OutputMode::kOverwrite, true});
      expect_reference_bits({format, rows, 640, 40, OutputMode::kAdd, true});
    }
  }
}

// Every product is as large as it can be, with both signs: a kernel that saturates on the way shows.
TEST_P(QuantisedLinearTest, DoesNotSaturate) {
  for (const WeightFormat format : kQuantisedFormats) {
    for (const float sign : {1.0f, -1.0f}) {
      for (const std::int64_t rows : {1, 20}) {
        const Case c{format, rows, 512, 40};
        Data data{std::vector<float>(static_cast<std::size_t>(c.rows * c.in), 1.0f),
                  std::vector<float>(static_cast<std::size_t>(c.out * c.in), sign),
                  {},
                  std::vector<float>(static_cast<std::size_t>(c.rows * c.out))};
        for (std::size_t i = 0; i < data.weights.size(); i += 32) data.weights[i] = -sign;  // spans both ends of q4
        const auto actual = run(ops_, c, data);
        EXPECT_TRUE(same_bits(actual, run(*reference_, c, data))) << to_string(format) << ' ' << sign;
        EXPECT_NEAR(actual[0], sign * 30.0f * 512 / 32, 70.0f);  // q4_0 has -8 but only +7
      }
    }
  }
}

TEST_P(QuantisedLinearTest, IsCloseToTheFloatProduct) {
  const Case c{WeightFormat::kInt8, 5, 576, 64};
  const Data data = make(c);
  const auto exact = run(*reference_, {WeightFormat::kF32, c.rows, c.in, c.out}, data);
  const std::pair<WeightFormat, double> deviations[] = {
      {WeightFormat::kInt8, 0.5}, {WeightFormat::kQ8_0, 0.3}, {WeightFormat::kQ4_0, 4.0}, {WeightFormat::kQ4_1, 3.0}};
  for (const auto& [format, deviation] : deviations) {
    const auto actual = run(ops_, {format, c.rows, c.in, c.out}, data);
    double squares = 0.0;
    for (std::size_t i = 0; i < actual.size(); ++i) squares += std::pow(actual[i] - exact[i], 2);
    EXPECT_LT(std::sqrt(squares / static_cast<double>(actual.size())), deviation) << to_string(format);
  }
}

TEST_P(QuantisedLinearTest, GivesARowTheSameBitsWhateverTheNumberOfRowsAndThreads) {
  for (const WeightFormat format : kQuantisedFormats) {
    const Case all{format, 500, 96, 40, OutputMode::kAdd, true};
    const Data data = make(all);
    Backend single(GetParam(), 1);
    const auto expected = run(ops_, all, data);
    EXPECT_TRUE(same_bits(expected, run(*single.ops, all, data)));
    for (const auto& [begin, rows] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 1}, {499, 1}, {3, 2}, {5, 4}, {50, 7}, {100, 12}, {200, 33}, {10, 385}}) {
      Case part = all;
      part.rows = rows;
      const auto slice = [begin = begin, rows = rows](const std::vector<float>& v, std::int64_t width) {
        return std::vector<float>(v.begin() + begin * width, v.begin() + (begin + rows) * width);
      };
      const Data some{slice(data.input, all.in), data.weights, data.bias, slice(data.output, all.out)};
      EXPECT_TRUE(same_bits(run(ops_, part, some), slice(expected, all.out))) << begin << ' ' << rows;
    }
  }
}

TEST_P(QuantisedLinearTest, SpecialInputStaysInItsRow) {
  for (const WeightFormat format : kQuantisedFormats) {
    const Case c{format, 12, 64, 40};
    Data data = make(c);
    data.input[5 * 64 + 3] = std::nanf("");
    data.input[7 * 64 + 40] = -std::numeric_limits<float>::infinity();
    for (int i = 0; i < 64; ++i) data.input[static_cast<std::size_t>(9 * 64 + i)] = i % 2 == 0 ? 1e-38f : -1e-42f;
    data.input[10 * 64] = 1e37f;
    const auto output = run(ops_, c, data);
    for (std::int64_t i = 0; i < c.rows * c.out; ++i) {
      const std::int64_t row = i / c.out;
      EXPECT_EQ(std::isnan(output[static_cast<std::size_t>(i)]), row == 5 || row == 7) << to_string(format) << i;
      if (row == 9) {
        EXPECT_EQ(output[static_cast<std::size_t>(i)], 0.0f);
      }
    }
    EXPECT_TRUE(std::isfinite(output[10 * 40]));
  }
}

TEST_P(QuantisedLinearTest, AllowsZeroRows) {
  const PackedWeights weights({WeightFormat::kQ4_1, 3, 2}, std::vector<float>(6, 1.0f));
  ops_.linear({nullptr, 2, weights.view(), nullptr, nullptr, 3, 0, OutputMode::kOverwrite}, kStream);
}

TRIREME_FOR_ALL_BACKENDS(QuantisedLinearTest);

}  // namespace
}  // namespace trireme::kernels
