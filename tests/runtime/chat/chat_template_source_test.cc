#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/chat/chat_template.h"
#include "runtime/checkpoint/side_files.h"

namespace trireme::chat {
namespace {

// A checkpoint without tensors, in memory or in a directory of its own.
class FakeCheckpoint : public checkpoint::Checkpoint {
 public:
  FakeCheckpoint(checkpoint::Format format, std::filesystem::path path, nlohmann::json metadata = {})
      : format_(format), files_(path), metadata_(std::move(metadata)) {
    path_ = std::move(path);
  }
  checkpoint::Format format() const override { return format_; }
  const nlohmann::json& metadata() const override { return metadata_; }
  const checkpoint::SideFiles* side_files() const override { return &files_; }

 private:
  checkpoint::Format format_;
  checkpoint::DirectoryFiles files_;
  nlohmann::json metadata_;
};

class ChatTemplateSource : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::path(testing::TempDir()) / (std::string("chat_template_") + test->name());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(const std::string& name, const std::string& text) const { std::ofstream(directory_ / name) << text; }

  // What the model's template renders without variables, or "error: " and the message.
  std::string rendered() const {
    const auto found = ChatTemplate::from_checkpoint(FakeCheckpoint(checkpoint::Format::kHuggingFace, directory_));
    return found.ok() ? *found->render(nlohmann::ordered_json::object()) : "error: " + found.error().message;
  }

  std::filesystem::path directory_;
};

TEST_F(ChatTemplateSource, IsAFileOfItsOwnBeforeTheTokenizersConfig) {
  write("tokenizer_config.json", R"({"chat_template": "from config"})");
  EXPECT_EQ(rendered(), "from config");
  write("chat_template.jinja", "from file");
  EXPECT_EQ(rendered(), "from file");
}

TEST_F(ChatTemplateSource, IsTheDefaultOfNamedOnes) {
  write("tokenizer_config.json", R"({"chat_template": [{"name": "tool_use", "template": "tools"},
                                                       {"name": "default", "template": "plain"}]})");
  EXPECT_EQ(rendered(), "plain");
}

TEST_F(ChatTemplateSource, IsAKeyInGguf) {
  const FakeCheckpoint gguf(checkpoint::Format::kGguf, "m.gguf", {{"tokenizer.chat_template", "from gguf"}});
  EXPECT_EQ(*ChatTemplate::from_checkpoint(gguf)->render(nlohmann::ordered_json::object()), "from gguf");
}

TEST_F(ChatTemplateSource, IsReportedMissing) {
  const FakeCheckpoint gguf(checkpoint::Format::kGguf, "m.gguf", nlohmann::json::object());
  const FakeCheckpoint directory(checkpoint::Format::kHuggingFace, directory_);
  EXPECT_EQ(ChatTemplate::from_checkpoint(gguf).error().code, base::ErrorCode::kNotFound);
  EXPECT_EQ(ChatTemplate::from_checkpoint(directory).error().code, base::ErrorCode::kNotFound);
  write("tokenizer_config.json", "{}");
  EXPECT_EQ(ChatTemplate::from_checkpoint(directory).error().code, base::ErrorCode::kNotFound);
}

TEST_F(ChatTemplateSource, NamesTheFileThatIsWrong) {
  write("tokenizer_config.json", R"({"chat_template": 3})");
  EXPECT_NE(rendered().find("tokenizer_config.json: chat_template is neither"), std::string::npos);
  write("tokenizer_config.json", "{");
  EXPECT_NE(rendered().find("tokenizer_config.json"), std::string::npos);
  write("chat_template.jinja", "{{ x ");
  EXPECT_NE(rendered().find("line 1"), std::string::npos);
}

}  // namespace
}  // namespace trireme::chat
