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

struct LongText {
  const char* tokenizer;
  std::size_t count = 1'000'000;
};

void PrintTo(const LongText& text, std::ostream* stream) {
  *stream << text.tokenizer;
}

class MillionCharactersTest : public ::testing::TestWithParam<LongText> {};

// A test that takes quadratic time, or a stack that grows with the text, does not end here.
TEST_P(MillionCharactersTest, AreEncodedOnASmallStack) {
  const auto tokenizer = Tokenizer::from_path(std::string(TRIREME_TEST_DATA) + "/tokenizers/" + GetParam().tokenizer);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  for (const char* unit : {"A", " ", "\n", ".", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80"}) {
    const std::string text = repeat(unit, GetParam().count);
    bool encoded = false;
    run_on_small_stack([&] { encoded = (*tokenizer)->encode(text).ok(); });
    EXPECT_TRUE(encoded) << unit;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, MillionCharactersTest,
                         ::testing::Values(LongText{"byte-level-nfc"}, LongText{"sentencepiece-prefix"},
                                           LongText{"bpe-word-end"}, LongText{"unigram"}, LongText{"unigram-bytes"},
                                           LongText{"word-level"}, LongText{"word-piece"},
                                           // libsentencepiece needs several seconds for a million
                                           LongText{"sentencepiece-model-bpe", 100'000},
                                           LongText{"sentencepiece-model-unigram", 100'000}),
                         [](const auto& test) {
                           std::string name = test.param.tokenizer;
                           std::erase(name, '-');
                           return name;
                         });

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
