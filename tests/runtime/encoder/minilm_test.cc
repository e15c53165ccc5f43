// A real encoder, all-MiniLM-L6-v2, against what transformers gives for it in float32 (tests/data/README.md). Runs
// where TRIREME_TEST_MODELS names the folder that holds it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/encoder/text_encoder.h"

namespace trireme::encoder {
namespace {

TEST(MiniLm, GivesTheGoldenEmbeddings) {
  const char* folder = std::getenv("TRIREME_TEST_MODELS");
  if (folder == nullptr) GTEST_SKIP() << "TRIREME_TEST_MODELS is not set; tests/run.sh fetches the models and sets it";
  const std::filesystem::path path = std::filesystem::path(folder) / "all-MiniLM-L6-v2";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is missing: launch/fetch_model.sh minilm";
  auto encoder = TextEncoder::open(path, {.weights = kernels::WeightFormat::kF32, .num_threads = 2});
  ASSERT_TRUE(encoder.ok()) << encoder.error().message;
  EXPECT_FALSE((*encoder)->description().classifies());
  std::ifstream file(std::filesystem::path(TRIREME_TEST_DATA) / "golden" / "minilm-embeddings.json");
  const auto golden = nlohmann::json::parse(file);
  for (const auto& entry : golden.at("cases")) {
    const std::string text = entry.at("text");
    const auto embeddings = (*encoder)->embed(std::span(&text, 1));
    ASSERT_TRUE(embeddings.ok()) << embeddings.error().message;
    const std::vector<float> expected = entry.at("embedding");
    ASSERT_EQ(embeddings->front().size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(embeddings->front()[i], expected[i], 1e-4f) << text;
  }
}

}  // namespace
}  // namespace trireme::encoder
