#include "launch/convert/calibration_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/golden.h"

namespace trireme::launch {
namespace {

using testing::HasSubstr;

std::unique_ptr<tokenizer::Tokenizer> small_tokenizer() {
  return std::move(tokenizer::Tokenizer::from_path(test::golden_model("llama")).value());
}

std::string words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word " + std::to_string(i) + " and ";
  return text;
}

// The texts' tokens without the BOS before each.
calibration::Tokens joined(const std::vector<calibration::Tokens>& texts, std::size_t bos) {
  calibration::Tokens all;
  for (const calibration::Tokens& text : texts) {
    all.insert(all.end(), text.begin() + static_cast<std::ptrdiff_t>(bos), text.end());
  }
  return all;
}

TEST(CalibrationText, KeepsSamplesAndVerificationApart) {
  const auto tokenizer = small_tokenizer();
  const std::string text = words(400);
  const auto cut = cut_calibration_text(text, "text.txt", *tokenizer, {1000, 20, 64});
  ASSERT_TRUE(cut) << cut.error().message;
  const std::size_t bos = tokenizer->encode("", {}).value().size();
  tokenizer::EncodeOptions plain;
  plain.add_special = false;
  const calibration::Tokens all = tokenizer->encode(text, plain).value();
  const calibration::Tokens samples = joined(cut->samples, bos), evaluation = joined(cut->evaluation, bos);
  ASSERT_LE(samples.size() + evaluation.size(), all.size());
  EXPECT_TRUE(std::equal(samples.begin(), samples.end(), all.begin()));
  EXPECT_TRUE(std::equal(evaluation.rbegin(), evaluation.rend(), all.rbegin()));
  for (const auto& sample : cut->samples) EXPECT_EQ(sample.size(), 20 + bos);
  for (const auto& window : cut->evaluation) EXPECT_EQ(window.size(), 64 + bos);
}

TEST(CalibrationText, SpreadsFewSamplesOverTheText) {
  const auto tokenizer = small_tokenizer();
  const auto cut = cut_calibration_text(words(400), "text.txt", *tokenizer, {4, 20, 64});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->samples.size(), 4u);
  EXPECT_EQ(std::set(cut->samples.begin(), cut->samples.end()).size(), 4u);
}

TEST(CalibrationText, ReadsJsonLines) {
  const auto tokenizer = small_tokenizer();
  const std::string half = words(100);
  const std::string lines = "{\"text\": \"" + half + "\"}\n\n{\"id\": 1, \"prompt\": \"" + half + "\"}\n";
  const auto from_lines = cut_calibration_text(lines, "lines.jsonl", *tokenizer, {8, 20, 64});
  ASSERT_TRUE(from_lines) << from_lines.error().message;
  tokenizer::EncodeOptions plain;
  plain.add_special = false;
  const calibration::Tokens tokens = tokenizer->encode(half, plain).value();
  const calibration::Tokens& first = from_lines->samples.front();
  EXPECT_TRUE(std::equal(first.end() - 20, first.end(), tokens.begin()));
}

TEST(CalibrationText, NamesTheLineThatIsWrong) {
  const auto tokenizer = small_tokenizer();
  for (const std::string bad : {"{\"text\": 3}", "[1]", "{\"other\": \"a\"}", "{\"text\": \"a\""}) {
    const auto cut = cut_calibration_text("{\"text\": \"fine\"}\n" + bad, "lines.jsonl", *tokenizer, {});
    ASSERT_FALSE(cut) << bad;
    EXPECT_THAT(cut.error().message, HasSubstr("lines.jsonl:2"));
  }
}

TEST(CalibrationText, RefusesTooLittleText) {
  const auto tokenizer = small_tokenizer();
  for (const std::string text : {"", "a few words"}) {
    const auto cut = cut_calibration_text(text, "text.txt", *tokenizer, {});
    ASSERT_FALSE(cut);
    EXPECT_THAT(cut.error().message, HasSubstr("too little text"));
  }
}

}  // namespace
}  // namespace trireme::launch
