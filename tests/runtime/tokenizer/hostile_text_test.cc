// Texts that break tokenizers: very long runs, on a thread with a small stack; unusual and invalid characters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/tokenizer/loaders.h"
#include "tests/runtime/tokenizer/tokenizer_builder.h"

namespace trireme::tokenizer {
namespace {

using testing::HasSubstr;

class HostileTextTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto parts = load_hugging_face_tokenizer(std::string(TRIREME_TEST_DATA) + "/tokenizers/" + GetParam(),
                                             nlohmann::json::object());
    ASSERT_TRUE(parts.ok()) << parts.error().message;
    tokenizer_ = std::make_unique<PipelineTokenizer>(std::move(*parts));
  }
  std::string round_trip(const std::string& text) const {
    const auto ids = tokenizer_->encode(text, {});
    return ids ? tokenizer_->decode(*ids, true) : ids.error().message;
  }
  std::unique_ptr<PipelineTokenizer> tokenizer_;
};

void run_on_small_stack(const std::function<void()>& work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  const auto entry = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, entry, const_cast<std::function<void()>*>(&work)), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

TEST_P(HostileTextTest, LongRunsSurviveASmallStack) {
  for (const std::string unit : {"A", " ", "\n", ".", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80", " \n", "<|im_", "'S"}) {
    const std::string text = "x" + repeat(unit, 50'000) + "x";
    std::string decoded;
    run_on_small_stack([&] { decoded = round_trip(text); });
    EXPECT_EQ(decoded == text, true) << unit;
  }
}

TEST_P(HostileTextTest, AMillionCharactersInOneWord) {
  const std::string text = repeat("A", 1'000'000);
  std::string decoded;
  run_on_small_stack([&] { decoded = round_trip(text); });
  EXPECT_EQ(decoded == text, true);
}

TEST_P(HostileTextTest, NothingIsCutOrLost) {
  using namespace std::string_literals;
  for (const std::string& text : {"nul\0byte"s,
                                  "\xEF\xBB\xBF"
                                  "BOM"s,
                                  "a\r\nb\r"s,
                                  "\xE2\x80\xAE"
                                  "rtl\xE2\x80\xAC"s,
                                  "q\xCC\x87"s, "\xF3\xA0\x80\x81\xF4\x8F\xBF\xBF"s, "\xCD\xB8 unassigned"s}) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST_P(HostileTextTest, InvalidUtf8IsAnError) {
  for (const std::string text : {"a\xFF", "\xC3", "\xED\xA0\x80", "ok \xC0\xAF", "\xF4\x90\x80\x80"}) {
    const auto ids = tokenizer_->encode(text, {});
    ASSERT_FALSE(ids.ok());
    EXPECT_THAT(ids.error().message, HasSubstr("not valid UTF-8 at byte"));
  }
}

INSTANTIATE_TEST_SUITE_P(Families, HostileTextTest,
                         ::testing::Values("byte-level-nfc", "byte-level-template", "sentencepiece-prefix",
                                           "metaspace-first"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace trireme::tokenizer
