// What tokenizer.json may hold, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/tokenizer/loaders.h"
#include "tests/support/temporary_folder.h"

namespace trireme::tokenizer {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

// A byte-level tokenizer: a, b, ab, and the special tokens <s>, </s>, <|im_end|>.
json byte_level() {
  return json::parse(R"({
    "added_tokens": [{"id": 3, "content": "<s>", "special": true}, {"id": 4, "content": "</s>", "special": true},
                     {"id": 5, "content": "<|im_end|>", "special": true}],
    "normalizer": null,
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
    "post_processor": null,
    "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}})");
}

class TokenizerJsonLoaderTest : public ::testing::Test {
 protected:
  base::Result<TokenizerParts> load(const std::string& text, const json& config = json::object()) {
    folder_.write("tokenizer.json", text);
    return load_hugging_face_tokenizer(folder_.path(), config);
  }
  std::unique_ptr<Tokenizer> tokenizer(const json& file, const json& config = json::object()) {
    auto parts = load(file.dump(), config);
    EXPECT_TRUE(parts.ok()) << (parts ? "" : parts.error().message);
    return parts ? std::make_unique<PipelineTokenizer>(std::move(*parts)) : nullptr;
  }
  std::string error(const json& file) { return error_of_text(file.dump()); }
  std::string error_of_text(const std::string& text) {
    const auto parts = load(text);
    EXPECT_FALSE(parts.ok());
    return parts ? "" : parts.error().message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TokenizerJsonLoaderTest, ErrorsNameTheFile) {
  EXPECT_THAT(load_hugging_face_tokenizer(folder_.path(), json::object()).error().message,
              HasSubstr("tokenizer.json does not exist"));
  EXPECT_THAT(error_of_text("{"), AllOf(HasSubstr("tokenizer.json: "), HasSubstr("not valid JSON")));
  EXPECT_THAT(error_of_text("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of_text("{}"), HasSubstr("model"));
  EXPECT_THAT(error_of_text(R"({"model": 3})"), HasSubstr("tokenizer.json"));
}

TEST_F(TokenizerJsonLoaderTest, RefusesUnsupportedTypesByName) {
  const std::vector<std::pair<const char*, json>> refused = {
      {"normalizer", {{"type", "Elvish"}}},
      {"normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "Elvish"}}}}}},
      {"pre_tokenizer", {{"type", "UnicodeScripts"}}},
      {"post_processor", {{"type", "Elvish"}}},
      {"decoder", {{"type", "CTC"}}},
      {"model", {{"type", "Elvish"}, {"vocab", {{"a", 0}}}}}};
  for (const auto& [key, value] : refused) {
    json file = byte_level();
    file[key] = value;
    const json& named = value.contains("normalizers") ? value["normalizers"][0] : value;
    EXPECT_THAT(error(file), AllOf(HasSubstr(key), HasSubstr(named["type"].get<std::string>())));
  }
}

TEST_F(TokenizerJsonLoaderTest, RefusesUnsupportedFieldsByName) {
  json file = byte_level();
  file["model"]["dropout"] = 0.1;
  EXPECT_THAT(error(file), HasSubstr("model.dropout"));
  file = byte_level();
  file["decoder"] = {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, {{"type", "ByteLevel"}}}}};
  EXPECT_THAT(error(file), HasSubstr("decoder ByteLevel after Fuse"));
}

TEST_F(TokenizerJsonLoaderTest, RefusesInconsistentVocabularies) {
  json file = byte_level();
  file["model"]["merges"] = {{"a", "c"}};
  EXPECT_THAT(error(file), AllOf(HasSubstr("model.merges"), HasSubstr("\"c\"")));
  file["model"]["merges"] = {"a b c"};
  EXPECT_THAT(error(file), HasSubstr("\"a b c\" is not a pair"));
  file["model"]["merges"] = {{"a"}};
  EXPECT_THAT(error(file), HasSubstr("model.merges"));
  file = byte_level();
  file["model"]["vocab"]["b"] = 0;
  EXPECT_THAT(error(file), HasSubstr("two tokens have id 0"));
  for (const json& id : {json(-1), json(1.5), json("1"), json(1e300), json(std::uint64_t{1} << 63), json(1 << 30)}) {
    file["model"]["vocab"]["b"] = id;
    EXPECT_THAT(error(file), HasSubstr("model.vocab")) << id;
  }
  file = byte_level();
  file["added_tokens"][0]["id"] = 2;
  EXPECT_THAT(error(file), HasSubstr("\"<s>\" has the id of another token, 2"));
  file["added_tokens"][0]["id"] = -7;
  EXPECT_THAT(error(file), HasSubstr("added_tokens"));
}

TEST_F(TokenizerJsonLoaderTest, RefusesDuplicateTokenText) {
  std::string text = byte_level().dump();
  const std::string unique = R"("b":1)";
  text.replace(text.find(unique), unique.size(), R"("b":1,"b":7)");
  EXPECT_THAT(error_of_text(text), HasSubstr("1 and 7 have the same text"));
}

TEST_F(TokenizerJsonLoaderTest, RefusesDeepNesting) {
  const std::string open = R"({"type":"Sequence","normalizers":[)";
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += open;
  for (int i = 0; i < 100'000; ++i) deep += "]}";
  EXPECT_THAT(error_of_text(R"({"normalizer":)" + deep + "}"), HasSubstr("nests too deeply"));
}

TEST_F(TokenizerJsonLoaderTest, TextThatGrowsWithoutMeasureIsAnError) {
  const json doubling = {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(100, 'a')}};
  json file = byte_level();
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", json::array_t(20, doubling)}};
  EXPECT_THAT(tokenizer(file)->encode("a").error().message, HasSubstr("longer than"));
  file = byte_level();
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", json::array_t(40, {{"type", "ByteLevel"}})}};
  EXPECT_THAT(tokenizer(file)->encode(" ").error().message, HasSubstr("too long"));
}

TEST_F(TokenizerJsonLoaderTest, ReadsMergesInBothSpellings) {
  json file = byte_level();
  EXPECT_THAT(*tokenizer(file)->encode("ab"), ElementsAre(2));
  file["model"]["merges"] = {"a b"};
  EXPECT_THAT(*tokenizer(file)->encode("ab"), ElementsAre(2));
}

TEST_F(TokenizerJsonLoaderTest, AddsWhatTheTemplateSaysButNoSecondBos) {
  json file = byte_level();
  file["post_processor"] = json::parse(R"({"type": "TemplateProcessing", "pair": [],
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}, "</s>": {"id": "</s>", "ids": [4], "tokens": ["</s>"]}}})");
  const auto loaded = tokenizer(file);
  EXPECT_THAT(*loaded->encode("ab"), ElementsAre(3, 2, 4));
  EXPECT_THAT(*loaded->encode("<s>ab"), ElementsAre(3, 2, 4));
  EXPECT_THAT(*loaded->encode(""), ElementsAre(3, 4));
  EXPECT_THAT(*loaded->encode("ab", {.add_special = false}), ElementsAre(2));
}

TEST_F(TokenizerJsonLoaderTest, TheTokenizersConfigurationMaySayWhetherBosIsAdded) {
  folder_.write("tokenizer_config.json", R"({"bos_token": {"content": "<s>"}, "add_bos_token": true})");
  EXPECT_THAT(*tokenizer(byte_level())->encode("ab"), ElementsAre(3, 2));
  EXPECT_THAT(*tokenizer(byte_level())->encode("<s>ab"), ElementsAre(3, 2));
  folder_.write("tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": false})");
  EXPECT_THAT(*tokenizer(byte_level())->encode("ab"), ElementsAre(2));
  EXPECT_EQ(tokenizer(byte_level())->bos(), 3);
}

TEST_F(TokenizerJsonLoaderTest, GathersTheEndsOfAGeneration) {
  EXPECT_THAT(tokenizer(byte_level())->end_of_generation(), ElementsAre(4, 5));
  EXPECT_THAT(tokenizer(byte_level(), {{"eos_token_id", {0, 4}}})->end_of_generation(), ElementsAre(0, 4, 5));
  folder_.write("generation_config.json", R"({"eos_token_id": 1})");
  folder_.write("tokenizer_config.json", R"({"eos_token": "ab"})");
  EXPECT_THAT(tokenizer(byte_level())->end_of_generation(), ElementsAre(1, 2, 4, 5));
  folder_.write("generation_config.json", R"({"eos_token_id": 99})");
  EXPECT_THAT(error(byte_level()), HasSubstr("eos_token_id"));
}

TEST_F(TokenizerJsonLoaderTest, SpecialTokenTextIsOrdinaryTextWhereToldSo) {
  json file = byte_level();
  file["model"]["vocab"] = {{"a", 0}, {"b", 1}, {"ab", 2}, {"<", 6}, {"s", 7}, {">", 8}};
  const auto loaded = tokenizer(file);
  EXPECT_THAT(*loaded->encode("<s>"), ElementsAre(3));
  EXPECT_THAT(*loaded->encode("<s>", {.special = SpecialTokens::kAsText}), ElementsAre(6, 7, 8));
  EXPECT_EQ(loaded->token_id("<s>"), 3);
  EXPECT_TRUE(loaded->is_special(3));
  EXPECT_FALSE(loaded->is_special(2));
  EXPECT_EQ(loaded->token_id("ab"), 2);
  EXPECT_EQ(loaded->vocab_size(), 9);
}

}  // namespace
}  // namespace trireme::tokenizer
