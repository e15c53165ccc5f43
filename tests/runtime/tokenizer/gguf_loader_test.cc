#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "runtime/tokenizer/loaders.h"
#include "tests/support/checkpoint_writer.h"
#include "tests/support/temporary_folder.h"

namespace trireme::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int32_t kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kByte = 6;

base::Result<TokenizerParts> load(const test::GgufWriter& writer) {
  const test::TemporaryFolder folder;
  writer.write(folder / "m.gguf");
  const auto file = checkpoint::GgufFile::open(folder / "m.gguf");
  EXPECT_TRUE(file.ok()) << (file ? "" : file.error().message);
  return load_gguf_tokenizer(**file);
}

std::unique_ptr<Tokenizer> tokenizer(const test::GgufWriter& writer) {
  auto parts = load(writer);
  EXPECT_TRUE(parts.ok()) << (parts ? "" : parts.error().message);
  return parts ? std::make_unique<PipelineTokenizer>(std::move(*parts)) : nullptr;
}

std::string error(const test::GgufWriter& writer) {
  const auto parts = load(writer);
  EXPECT_FALSE(parts.ok());
  return parts ? "" : parts.error().message;
}

struct Tokens {
  std::vector<std::string> texts;
  std::vector<std::int32_t> types;
  std::vector<float> scores;
};

Tokens sentencepiece_tokens() {
  const std::string under = "\xE2\x96\x81";
  return {
      {"<unk>", "<s>", "</s>", "<0xC3>", "<0xA9>", under, "a", "b", under + "a", "ab", "\n\n", "<end_of_turn>"},
      {kUnknown, kControl, kControl, kByte, kByte, kNormal, kNormal, kNormal, kNormal, kNormal, kUserDefined, kControl},
      {0, 0, 0, 0, 0, -9, -9, -9, -1, -2, 0, 0}};
}

test::GgufWriter sentencepiece(const Tokens& tokens = sentencepiece_tokens()) {
  test::GgufWriter writer;
  writer.add_string("tokenizer.ggml.model", "llama").add_strings("tokenizer.ggml.tokens", tokens.texts);
  writer.add_ints("tokenizer.ggml.token_type", tokens.types).add_floats("tokenizer.ggml.scores", tokens.scores);
  writer.add_u32("tokenizer.ggml.bos_token_id", 1).add_u32("tokenizer.ggml.eos_token_id", 2);
  return writer.add_u32("tokenizer.ggml.unknown_token_id", 0);
}

test::GgufWriter byte_level(const std::string& pre = "gpt-2", const std::vector<std::string>& merges = {"a b"}) {
  test::GgufWriter writer;
  writer.add_string("tokenizer.ggml.model", "gpt2").add_string("tokenizer.ggml.pre", pre);
  writer.add_strings("tokenizer.ggml.tokens",
                     std::vector<std::string>{"a", "b", "ab", "\xC4\xA0", "<s>", "<|im_end|>"});
  writer.add_ints("tokenizer.ggml.token_type", std::vector<std::int32_t>{1, 1, 1, 1, 3, 3});
  writer.add_strings("tokenizer.ggml.merges", merges);
  return writer.add_u32("tokenizer.ggml.bos_token_id", 4);
}

TEST(GgufLoaderTest, SentencePieceAddsBosAndASpaceUnlessToldNotTo) {
  const auto by_default = tokenizer(sentencepiece());
  EXPECT_THAT(*by_default->encode("ab a"), ElementsAre(1, 8, 7, 8));
  EXPECT_THAT(*by_default->encode("<s>ab"), ElementsAre(1, 8, 7));
  EXPECT_EQ(by_default->decode(std::vector<TokenId>{8, 7, 8}), "ab a");
  auto writer = sentencepiece();
  writer.add_bool("tokenizer.ggml.add_space_prefix", false).add_bool("tokenizer.ggml.add_bos_token", false);
  writer.add_bool("tokenizer.ggml.add_eos_token", true);
  const auto told = tokenizer(writer);
  EXPECT_THAT(*told->encode("ab a"), ElementsAre(9, 8, 2));
  EXPECT_EQ(told->decode(std::vector<TokenId>{8, 7, 8}), " ab a");
}

TEST(GgufLoaderTest, SentencePieceFallsBackToBytesAndSplitsUserDefinedTokens) {
  auto writer = sentencepiece();
  writer.add_bool("tokenizer.ggml.add_space_prefix", false);
  const auto loaded = tokenizer(writer);
  EXPECT_THAT(*loaded->encode("a\xC3\xA9\n\nz", {.add_special = false}), ElementsAre(6, 3, 4, 10, 0));
  EXPECT_EQ(loaded->decode(std::vector<TokenId>{3, 4, 10}), "\xC3\xA9\n\n");
  EXPECT_EQ(loaded->bos(), 1);
  EXPECT_THAT(loaded->end_of_generation(), ElementsAre(2, 11));
}

TEST(GgufLoaderTest, ByteLevelFollowsItsPreTokenizersHabits) {
  EXPECT_THAT(*tokenizer(byte_level("gpt-2"))->encode("ab ab"), ElementsAre(2, 3, 2));
  EXPECT_THAT(*tokenizer(byte_level("llama-bpe"))->encode("ab"), ElementsAre(4, 2));
  EXPECT_THAT(tokenizer(byte_level())->end_of_generation(), ElementsAre(5));
  EXPECT_EQ(tokenizer(byte_level())->token_bytes(3), " ");
}

TEST(GgufLoaderTest, RefusesUnknownModelsAndPreTokenizersByName) {
  test::GgufWriter writer;
  EXPECT_THAT(error(writer), HasSubstr("tokenizer.ggml.model is missing"));
  writer.add_string("tokenizer.ggml.model", "t5");
  EXPECT_THAT(error(writer), HasSubstr("\"t5\" is not supported"));
  EXPECT_THAT(error(byte_level("martian")), HasSubstr("tokenizer.ggml.pre: pre-tokenizer \"martian\""));
}

TEST(GgufLoaderTest, RefusesMalformedByteTokens) {
  for (const char* bad : {"<0x-1>", "<0xZZ>", "x"}) {
    Tokens tokens = sentencepiece_tokens();
    tokens.texts[3] = bad;
    EXPECT_THAT(error(sentencepiece(tokens)), AllOf(HasSubstr("tokenizer.ggml.tokens"), HasSubstr(bad)));
  }
  Tokens twice = sentencepiece_tokens();
  twice.texts[4] = twice.texts[3];
  EXPECT_THAT(error(sentencepiece(twice)), HasSubstr("two tokens stand for one byte: 3 and 4"));
}

TEST(GgufLoaderTest, RefusesArraysOfDifferentLengthOrContent) {
  Tokens tokens = sentencepiece_tokens();
  tokens.scores.pop_back();
  EXPECT_THAT(error(sentencepiece(tokens)), HasSubstr("tokenizer.ggml.scores has 11 entries for 12 tokens"));
  tokens = sentencepiece_tokens();
  tokens.types.push_back(1);
  EXPECT_THAT(error(sentencepiece(tokens)), HasSubstr("tokenizer.ggml.token_type has 13 entries"));
  tokens = sentencepiece_tokens();
  tokens.types[0] = 9;
  EXPECT_THAT(error(sentencepiece(tokens)), HasSubstr("tokenizer.ggml.token_type[0] is 9"));
  tokens = sentencepiece_tokens();
  tokens.scores[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(error(sentencepiece(tokens)), HasSubstr("not finite"));
  tokens = sentencepiece_tokens();
  tokens.texts[7] = "a";
  EXPECT_THAT(error(sentencepiece(tokens)), HasSubstr("6 and 7 have the same text"));
}

TEST(GgufLoaderTest, RefusesBrokenMergesAndIds) {
  EXPECT_THAT(error(byte_level("gpt-2", {"a c"})), AllOf(HasSubstr("tokenizer.ggml.merges"), HasSubstr("\"c\"")));
  EXPECT_THAT(error(byte_level("gpt-2", {"ab"})), HasSubstr("\"ab\" is not a pair"));
  auto writer = byte_level();
  writer.add_u32("tokenizer.ggml.eos_token_id", 6);
  EXPECT_THAT(error(writer), HasSubstr("tokenizer.ggml.eos_token_id is not the id of a token"));
  auto wrong_type = byte_level();
  wrong_type.add_string("tokenizer.ggml.add_bos_token", "yes");
  EXPECT_THAT(error(wrong_type), HasSubstr("tokenizer.ggml.add_bos_token is not a bool"));
}

}  // namespace
}  // namespace trireme::tokenizer
