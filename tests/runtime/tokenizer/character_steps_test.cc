#include "runtime/tokenizer/character_steps.h"

#include <gtest/gtest.h>

namespace trireme::tokenizer {
namespace {

TEST(CharacterStepsTest, LowercaseLooksAtEachCharacterByItself) {
  EXPECT_EQ(apply_character_step(CharacterStep::kLowercase, "Row \xC3\x89"), "row \xC3\xA9");
  EXPECT_EQ(apply_character_step(CharacterStep::kLowercase, "\xC4\xB0"), "i\xCC\x87");  // U+0130
  EXPECT_EQ(apply_character_step(CharacterStep::kLowercase, "\xCE\xA3"), "\xCF\x83");   // no final sigma
  EXPECT_EQ(apply_character_step(CharacterStep::kLowercase, "\xC3\x9F"), "\xC3\x9F");   // ß
}

TEST(CharacterStepsTest, RemovesMarks) {
  const std::string text = "e\xCC\x81 \xE0\xA4\xBE";  // U+0301 (Mn), U+093E (Mc)
  EXPECT_EQ(apply_character_step(CharacterStep::kRemoveMarks, text), "e ");
  EXPECT_EQ(apply_character_step(CharacterStep::kRemoveNonspacingMarks, text), "e \xE0\xA4\xBE");
}

TEST(CharacterStepsTest, CleansControlCharactersAndBlanks) {
  using namespace std::string_literals;
  EXPECT_EQ(apply_character_step(CharacterStep::kClean, "a\0b\x07\tc\r\nd\xE2\x80\x8B"s), "ab c  d");
  EXPECT_EQ(apply_character_step(CharacterStep::kClean, "x\xC2\xA0y\xEF\xBF\xBD"), "x y");
}

TEST(CharacterStepsTest, SpacesIdeographsButNotSyllables) {
  EXPECT_EQ(apply_character_step(CharacterStep::kSpaceCjk,
                                 "a\xE4\xB8\xAD"
                                 "b"),
            "a \xE4\xB8\xAD b");
  EXPECT_EQ(apply_character_step(CharacterStep::kSpaceCjk, "\xE3\x81\x82"), "\xE3\x81\x82");
}

TEST(CharacterStepsTest, NmtMakesSpacesOfSomeBlanks) {
  EXPECT_EQ(apply_character_step(CharacterStep::kNmt, "a\x01\tb\xE2\x80\x8B\xC2\x85"), "a b \xC2\x85");
}

}  // namespace
}  // namespace trireme::tokenizer
