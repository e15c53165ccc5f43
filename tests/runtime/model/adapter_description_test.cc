#include "runtime/model/adapter_description.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/model/architecture.h"
#include "tests/support/golden.h"
#include "tests/support/temporary_folder.h"

namespace trireme::model {
namespace {

// A copy of a golden adapter whose adapter_config.json can be changed.
class AdapterDescriptionTest : public testing::Test {
 protected:
  void use(const std::string& name) {
    std::filesystem::copy(test::golden_adapter(name), folder_.path(),
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing);
    std::filesystem::permissions(folder_ / "adapter_config.json", std::filesystem::perms::owner_all);
    std::ifstream file(folder_ / "adapter_config.json");
    config_ = nlohmann::json::parse(file);
  }
  base::Result<AdapterDescription> describe(const std::string& model = "llama") {
    std::ofstream(folder_ / "adapter_config.json") << config_.dump();
    const auto base = checkpoint::Checkpoint::open(test::golden_model(model)).value();
    auto adapter = checkpoint::Checkpoint::open_adapter(folder_.path());
    if (!adapter) return adapter.error();
    return describe_adapter(**adapter, describe_model(*base).value());
  }
  std::string error(const std::string& model = "llama") {
    const auto result = describe(model);
    return result ? "" : result.error().message;
  }
  const test::TemporaryFolder folder_;
  nlohmann::json config_;
};

TEST_F(AdapterDescriptionTest, ScaleIsAlphaOverRankOrOverItsRoot) {
  use("a");
  EXPECT_FLOAT_EQ(describe()->scale, 8.0f / 4.0f);
  use("b");
  EXPECT_FLOAT_EQ(describe()->scale, 16.0f / std::sqrt(8.0f));
}

TEST_F(AdapterDescriptionTest, ModulesFindTheirPlaceInFusedLinears) {
  use("b");
  const auto description = describe();
  ASSERT_TRUE(description.ok()) << description.error().message;
  EXPECT_EQ(description->targets.size(), 4u * 7u);
  for (const AdapterTarget& target : description->targets) {
    if (target.a.find("v_proj") != std::string::npos) {
      EXPECT_EQ(target.first_output, 64 + 32);
    }
    if (target.a.find("up_proj") != std::string::npos) {
      EXPECT_EQ(target.first_output, 160);
    }
    if (target.a.find("down_proj") != std::string::npos) {
      EXPECT_EQ(target.in_features, 160);
    }
  }
  EXPECT_EQ(description->bytes(0, 4), 4 * description->bytes(2, 3));
  // As packed: 32 rows where A has 8. Inputs of the seven Linears, then their outputs.
  EXPECT_EQ(description->bytes(0, 1), (6 * 64 + 160) * 32 * 4 + (64 + 32 + 32 + 64 + 160 + 160 + 64) * 8 * 4);
}

TEST_F(AdapterDescriptionTest, RefusalsNameFileAndKeyOrTensor) {
  use("a");
  const nlohmann::json good = config_;
  const std::vector<std::pair<std::string, nlohmann::json>> bad = {{"peft_type", "IA3"},
                                                                   {"use_dora", true},
                                                                   {"bias", "all"},
                                                                   {"rank_pattern", {{"q_proj", 8}}},
                                                                   {"r", 0},
                                                                   {"r", 5},
                                                                   {"r", "four"},
                                                                   {"modules_to_save", {"lm_head"}}};
  for (const auto& [key, value] : bad) {
    config_ = good;
    config_[key] = value;
    EXPECT_NE(error().find(folder_.path().string()), std::string::npos) << key << ": " << error();
  }
  config_ = good;
  EXPECT_NE(error("gpt-neox").find("q_proj"), std::string::npos) << error("gpt-neox");
  std::filesystem::remove(folder_ / "adapter_model.safetensors");
  EXPECT_NE(error().find("adapter_model.safetensors"), std::string::npos) << error();
}

}  // namespace
}  // namespace trireme::model
