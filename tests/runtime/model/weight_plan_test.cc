#include "runtime/model/weight_plan.h"

#include <gtest/gtest.h>

#include "runtime/model/architecture.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace trireme::model {
namespace {

using checkpoint::TensorType;
using config::Weights;
using kernels::WeightFormat;

ModelDescription small_model() {
  ModelDescription model;
  model.vocab_size = 100;
  model.hidden_size = model.intermediate_size = 64;
  model.num_heads = model.num_kv_heads = 1;
  model.head_dim = 64;
  model.tied_head = true;
  model.layers.resize(2);
  model.names.embedding = "embedding";
  model.names.q = "q";
  model.names.k = "k";
  model.names.v = "v";
  model.names.attention_output = "o";
  model.names.gate = "gate";
  model.names.up = "up";
  model.names.down = "down";
  return model;
}

class WeightPlanTest : public testing::Test {
 protected:
  // A file with q, k and v stored as given, the rest as F32.
  void write(TensorType q, TensorType k, TensorType v, TensorType embedding) {
    test::GgufWriter writer;
    writer.add_string("general.architecture", "llama");
    writer.add_tensor(test::random_tensor("embedding", embedding, {100, 64}, 1.0, 1));
    writer.add_tensor(test::random_tensor("q", q, {64, 64}, 1.0, 2));
    writer.add_tensor(test::random_tensor("k", k, {64, 64}, 1.0, 3));
    writer.add_tensor(test::random_tensor("v", v, {64, 64}, 1.0, 4));
    writer.write(folder_.path() / "model.gguf");
    checkpoint_ = checkpoint::Checkpoint::open(folder_.path() / "model.gguf").value();
  }
  WeightPlan plan(Weights weights) const {
    return plan_weights(model_, make_format_chooser(*checkpoint_, model_, weights));
  }
  WeightFormat qkv(Weights weights) const { return plan(weights).layers[0][0].format; }
  WeightFormat embedding(Weights weights) const { return plan(weights).first[0].format; }

  const ModelDescription model_ = small_model();
  const test::TemporaryFolder folder_;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
};

TEST_F(WeightPlanTest, AutoKeepsAQuantisedFilesFormatAndTakesQ8ForTheRest) {
  write(TensorType::kQ4_1, TensorType::kQ4_1, TensorType::kQ4_1, TensorType::kQ8_0);
  EXPECT_EQ(qkv(Weights::kAuto), WeightFormat::kQ4_1);
  EXPECT_EQ(embedding(Weights::kAuto), WeightFormat::kQ8_0);
  EXPECT_EQ(plan(Weights::kAuto).layers[0][1].format, WeightFormat::kQ8_0);
  write(TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kF16);
  EXPECT_EQ(qkv(Weights::kAuto), WeightFormat::kQ4_0);
  EXPECT_EQ(embedding(Weights::kAuto), WeightFormat::kQ8_0);
  write(TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kQ8_0, TensorType::kF32);
  EXPECT_EQ(qkv(Weights::kAuto), WeightFormat::kQ8_0);
}

TEST_F(WeightPlanTest, Q4KeepsFourBitsAndTheVocabularyInEight) {
  write(TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kF32);
  EXPECT_EQ(qkv(Weights::kQ4), WeightFormat::kQ4_0);
  EXPECT_EQ(plan(Weights::kQ4).layers[1][3].format, WeightFormat::kQ4_1);
  EXPECT_EQ(embedding(Weights::kQ4), WeightFormat::kQ8_0);
}

TEST_F(WeightPlanTest, NamedFormatsAreForAllLinears) {
  write(TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kQ4_0, TensorType::kQ8_0);
  EXPECT_EQ(qkv(Weights::kF32), WeightFormat::kF32);
  EXPECT_EQ(embedding(Weights::kF32), WeightFormat::kF32);
  EXPECT_EQ(qkv(Weights::kBF16), WeightFormat::kBF16);
  EXPECT_EQ(qkv(Weights::kInt8), WeightFormat::kInt8);
  EXPECT_EQ(embedding(Weights::kInt8), WeightFormat::kQ8_0);
  EXPECT_EQ(qkv(Weights::kQ8), WeightFormat::kQ8_0);
}

TEST_F(WeightPlanTest, CountsASharedEmbeddingOnce) {
  write(TensorType::kQ4_1, TensorType::kQ4_1, TensorType::kQ4_1, TensorType::kQ8_0);
  const WeightPlan planned = plan(Weights::kAuto);
  const std::int64_t layers = matrix_bytes(planned, model_, {0, 2, false, false});
  const std::int64_t embedding_bytes = 128 * 64 / 32 * 34;
  EXPECT_EQ(layers, 2 * (192 * 64 / 32 * 20 + 64 * 64 / 32 * 34 + 128 * 64 / 32 * 34 + 64 * 64 / 32 * 34));
  EXPECT_EQ(matrix_bytes(planned, model_, {0, 2, true, false}), layers + embedding_bytes);
  EXPECT_EQ(matrix_bytes(planned, model_, {0, 2, true, true}), layers + embedding_bytes);
  EXPECT_EQ(describe_formats(planned.first), "q8_0");
  EXPECT_EQ(describe_formats(planned.layers[0]), "q8_0 0.0 MiB, q4_1 0.0 MiB");
}

TEST_F(WeightPlanTest, RoutersOfExpertsAreNotQuantised) {
  const auto golden = checkpoint::Checkpoint::open(test::golden_model("qwen3-moe")).value();
  const ModelDescription model = describe_model(*golden).value();
  const WeightPlan plan = plan_weights(model, make_format_chooser(*golden, model, Weights::kInt8));
  ASSERT_EQ(plan.layers[0].size(), 2u + 1u + 2u * 8u);
  EXPECT_EQ(plan.layers[0][2].tensor, "model.layers.0.mlp.gate.weight");
  EXPECT_EQ(plan.layers[0][2].format, WeightFormat::kF16);
  EXPECT_EQ(plan.layers[0][3].format, WeightFormat::kInt8);
}

}  // namespace
}  // namespace trireme::model
