// A converted model loads into the same bytes as its source does: all that a stage computes with, for every kind of
// model, every option and any split.
#include "runtime/model/convert_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "runtime/config/weights_names.h"
#include "runtime/model/architecture.h"
#include "runtime/model/stage_weights.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/gguf_conversion.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace trireme::model {
namespace {

using config::Weights;

struct Stored {
  std::unique_ptr<checkpoint::Checkpoint> checkpoint;
  ModelDescription description;

  explicit Stored(const std::filesystem::path& path)
      : checkpoint(checkpoint::Checkpoint::open(path).value()), description(describe_model(*checkpoint).value()) {}
};

class ConvertModelTest : public testing::TestWithParam<std::string> {
 protected:
  base::Status convert(const Stored& source, Weights weights, const ConvertObserver& observe) {
    checkpoint::Provenance provenance;
    provenance.weights = config::to_string(weights);
    checkpoint::Hdf5Writer writer(target_, provenance, source.checkpoint->format());
    const FormatChooser choose = make_format_chooser(*source.checkpoint, source.description, weights);
    return convert_model(*source.checkpoint, source.description, choose, pool_, writer, observe);
  }
  // Converts, and compares what every stage of one and of two loads.
  void expect_same(const std::filesystem::path& path, Weights weights) {
    const Stored source(path);
    const auto status = convert(source, weights, [](const ConvertProgress&) { return true; });
    ASSERT_TRUE(status.ok()) << status.error().message;
    const Stored converted(target_);
    const std::int32_t layers = source.description.num_layers();
    for (const StageSpec& stage :
         {StageSpec{0, layers, true, true}, StageSpec{0, 1, true, false}, StageSpec{1, layers, false, true}}) {
      const auto expected = load(source, stage, weights), actual = load(converted, stage, Weights::kAuto);
      ASSERT_EQ(actual->matrices.size(), expected->matrices.size());
      EXPECT_EQ(std::memcmp(actual->matrices.data(), expected->matrices.data(), expected->matrices.bytes()), 0);
      expect_same_vectors(*actual, *expected, source.description);
      EXPECT_EQ(formats(converted, Weights::kAuto), formats(source, weights));
    }
  }
  std::unique_ptr<StageWeights> load(const Stored& stored, const StageSpec& stage, Weights weights) {
    auto loaded = load_stage_weights(*stored.checkpoint, stored.description, stage, weights, pool_);
    if (!loaded) ADD_FAILURE() << loaded.error().message;
    return std::move(loaded).value();
  }
  static std::string formats(const Stored& stored, Weights weights) {
    const auto choose = make_format_chooser(*stored.checkpoint, stored.description, weights);
    return describe_formats(all_matrices(plan_weights(stored.description, choose), stored.description));
  }
  static void expect_same_vectors(const StageWeights& actual, const StageWeights& expected,
                                  const ModelDescription& model) {
    ASSERT_EQ(actual.vectors.size(), expected.vectors.size());
    ASSERT_EQ(actual.layers.size(), expected.layers.size());
    const auto bytes = static_cast<std::size_t>(model.hidden_size) * sizeof(float);
    for (std::size_t i = 0; i < actual.layers.size(); ++i) {
      const NormWeights &a = actual.layers[i].ffn_norm, &e = expected.layers[i].ffn_norm;
      ASSERT_EQ(a.weight == nullptr, e.weight == nullptr);
      if (a.weight != nullptr) {
        EXPECT_EQ(std::memcmp(a.weight, e.weight, bytes), 0);
      }
      const LinearWeights &down = actual.layers[i].down, &other = expected.layers[i].down;
      ASSERT_EQ(down.bias == nullptr, other.bias == nullptr);
      if (down.bias != nullptr) {
        EXPECT_EQ(std::memcmp(down.bias, other.bias, bytes), 0);
      }
    }
  }

  kernels::ThreadPool pool_{2};
  const test::TemporaryFolder folder_;
  const std::filesystem::path target_ = folder_ / "m.h5";
};

TEST_P(ConvertModelTest, LoadsTheSameBytesAsTheSource) {
  for (const Weights weights : {Weights::kInt8, Weights::kQ4, Weights::kF16}) {
    expect_same(test::golden_model(GetParam()), weights);
  }
}

TEST_P(ConvertModelTest, LoadsTheSameBytesAsAGgufFile) {
  if (!test::gguf_knows(GetParam())) GTEST_SKIP() << "GGUF does not know " << GetParam();
  test::write_as_gguf(GetParam(), folder_ / "m.gguf");
  expect_same(folder_ / "m.gguf", Weights::kAuto);
}

TEST_P(ConvertModelTest, RefusesOtherWeightsThanItHolds) {
  const Stored source(test::golden_model(GetParam()));
  ASSERT_TRUE(convert(source, Weights::kInt8, [](const ConvertProgress&) { return true; }));
  const Stored converted(target_);
  const StageSpec all{0, source.description.num_layers(), true, true};
  const auto loaded = load_stage_weights(*converted.checkpoint, converted.description, all, Weights::kQ4, pool_);
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, testing::HasSubstr("converted with --weights int8, not q4"));
  EXPECT_TRUE(load_stage_weights(*converted.checkpoint, converted.description, all, Weights::kInt8, pool_));
}

TEST_P(ConvertModelTest, StopsWhenItIsTold) {
  const Stored source(test::golden_model(GetParam()));
  int calls = 0;
  EXPECT_FALSE(convert(source, Weights::kF16, [&](const ConvertProgress&) { return ++calls < 3; }));
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

INSTANTIATE_TEST_SUITE_P(Models, ConvertModelTest, testing::ValuesIn(test::golden_decoders()),
                         [](const auto& model) { return test::parameter_name(model.param); });

}  // namespace
}  // namespace trireme::model
