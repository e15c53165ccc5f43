#include "runtime/model/architecture.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"

namespace trireme::model {
namespace {

// A copy of a golden model whose config.json can be changed.
class ArchitectureTest : public testing::Test {
 protected:
  void use(const std::string& name) {
    folder_ = std::filesystem::path(testing::TempDir()) / ("architecture_" + name);
    std::filesystem::remove_all(folder_);
    std::filesystem::copy(test::golden_model(name), folder_);
    std::ifstream file(folder_ / "config.json");
    config_ = nlohmann::json::parse(file);
  }
  base::Result<ModelDescription> describe() {
    std::ofstream(folder_ / "config.json") << config_.dump();
    auto checkpoint = checkpoint::Checkpoint::open(folder_);
    if (!checkpoint) return checkpoint.error();
    return describe_model(**checkpoint);
  }
  std::string error() {
    const auto result = describe();
    return result ? "" : result.error().message;
  }
  std::filesystem::path folder_;
  nlohmann::json config_;
};

TEST_F(ArchitectureTest, BothSpellingsOfTheRopeKeysMeanTheSame) {
  use("llama3-rope");
  const auto newer = describe();
  ASSERT_TRUE(newer.ok());
  config_["rope_theta"] = config_["rope_parameters"]["rope_theta"];
  config_["rope_scaling"] = config_["rope_parameters"];
  config_["rope_scaling"].erase("rope_theta");
  config_.erase("rope_parameters");
  const auto older = describe();
  ASSERT_TRUE(older.ok()) << older.error().message;
  EXPECT_EQ(older->ropes[0].inverse_frequencies, newer->ropes[0].inverse_frequencies);
  config_.erase("rope_scaling");
  EXPECT_NE(describe()->ropes[0].inverse_frequencies, newer->ropes[0].inverse_frequencies);
}

TEST_F(ArchitectureTest, GemmaReadsBothSpellingsOfItsTwoRopes) {
  use("gemma3");
  const auto newer = describe();
  ASSERT_TRUE(newer.ok());
  ASSERT_EQ(newer->ropes.size(), 2u);
  EXPECT_NE(newer->ropes[0].inverse_frequencies, newer->ropes[1].inverse_frequencies);
  config_.erase("rope_parameters");
  config_["rope_theta"] = 1000000.0;
  config_["rope_local_base_freq"] = 10000.0;
  const auto older = describe();
  ASSERT_TRUE(older.ok()) << older.error().message;
  EXPECT_EQ(older->ropes[0].inverse_frequencies, newer->ropes[0].inverse_frequencies);
  EXPECT_EQ(older->ropes[1].inverse_frequencies, newer->ropes[1].inverse_frequencies);
}

TEST_F(ArchitectureTest, LayersOfOneWindowAreOneGroupWithFullAttentionFirst) {
  use("gemma3");
  config_["layer_types"] = {"sliding_attention", "full_attention", "sliding_attention", "full_attention"};
  const auto model = describe();
  ASSERT_TRUE(model.ok());
  EXPECT_EQ(model->window_groups(), (std::vector<std::int32_t>{0, 8}));
  EXPECT_EQ(model->group_of_layer(0), 1);
  EXPECT_EQ(model->group_of_layer(1), 0);
}

TEST_F(ArchitectureTest, RefusalsNameTheKey) {
  use("llama");
  const nlohmann::json good = config_;
  const std::vector<std::pair<std::string, nlohmann::json>> bad = {
      {"hidden_size", -1},          {"num_attention_heads", "4"},
      {"num_hidden_layers", 0},     {"num_key_value_heads", 3},
      {"vocab_size", 1e30},         {"rms_norm_eps", "small"},
      {"hidden_act", "snake"},      {"rope_parameters", {{"rope_type", "yarn"}, {"factor", 4.0}}},
      {"model_type", "frobnicate"}, {"quantization_config", {{"bits", 4}}}};
  for (const auto& [key, value] : bad) {
    config_ = good;
    config_[key] = value;
    EXPECT_NE(error(), "") << key;
    EXPECT_NE(error().find("config.json"), std::string::npos) << error();
  }
  config_ = good;
  config_.erase("hidden_size");
  EXPECT_NE(error().find("hidden_size is missing"), std::string::npos) << error();
}

}  // namespace
}  // namespace trireme::model
