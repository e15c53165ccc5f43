#include "runtime/tokenizer/utf8.h"

#include <gtest/gtest.h>

#include "runtime/tokenizer/character_class.h"

namespace trireme::tokenizer {
namespace {

TEST(Utf8Test, FindsTheFirstInvalidByte) {
  EXPECT_EQ(find_invalid_utf8("plain, \xC3\xA9, \xE2\x82\xAC, \xF0\x9F\x98\x80, \xF4\x8F\xBF\xBF"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8(std::string_view("a\0b", 3)), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2u);
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2u);
  EXPECT_EQ(find_invalid_utf8("\xC0\xAF"), 0u);          // overlong
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0u);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xF0\x8F\xBF\xBF"), 0u);  // overlong
  EXPECT_EQ(find_invalid_utf8("x\xED\xA0\x80"), 1u);     // surrogate
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // above U+10FFFF
  EXPECT_EQ(find_invalid_utf8("ok \xE2\x82"), 3u);       // cut
}

TEST(Utf8Test, CutsIllFormedBytesIntoMaximalSubparts) {
  EXPECT_EQ(first_character("\xE2\x82\x41").bytes, 2u);
  EXPECT_EQ(first_character("\xE2\x82\x41").status, Utf8Status::kInvalid);
  EXPECT_EQ(first_character("\xF0\x9F\x98").bytes, 3u);
  EXPECT_EQ(first_character("\xF0\x9F\x98").status, Utf8Status::kIncomplete);
  EXPECT_EQ(first_character("\xED\xA0\x80").bytes, 1u);
  EXPECT_EQ(first_character("\x80\x80").bytes, 1u);
}

TEST(Utf8Test, EncodesWhatItDecodes) {
  for (char32_t code_point = 0; code_point < 0x110000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string text;
    append_utf8(code_point, text);
    const Utf8Character character = first_character(text);
    ASSERT_EQ(character.status, Utf8Status::kValid) << static_cast<std::uint32_t>(code_point);
    ASSERT_EQ(character.code_point, code_point);
    ASSERT_EQ(character.bytes, text.size());
    ASSERT_EQ(last_code_point("a" + text), code_point);
  }
}

TEST(Utf8Test, KnowsWhitespaceAndWords) {
  for (const char32_t space : {0x09, 0x0D, 0x20, 0x85, 0xA0, 0x2003, 0x2028, 0x3000}) EXPECT_TRUE(is_whitespace(space));
  for (const char32_t other : {0x41, 0x180E, 0x200B, 0xFEFF}) EXPECT_FALSE(is_whitespace(other));
  for (const char32_t word : {0x41, 0x5F, 0x39, 0xE9, 0x4E2D, 0x301, 0x200D}) EXPECT_TRUE(is_word_character(word));
  for (const char32_t other : {0x20, 0x2D, 0x3002, 0x1F600}) EXPECT_FALSE(is_word_character(other));
}

}  // namespace
}  // namespace trireme::tokenizer
