// Tables of normalisations, hand-made and damaged. Real ones: compare_with_reference.py.
#include "runtime/tokenizer/precompiled_charsmap.h"

#include <gtest/gtest.h>

#include <cstring>

namespace trireme::tokenizer {
namespace {

constexpr std::uint32_t kLeaf = 1 << 8;

std::uint32_t unit(char label, std::uint32_t offset, std::uint32_t flags = 0) {
  return static_cast<unsigned char>(label) | offset << 10 | flags;
}

std::string table(const std::vector<std::uint32_t>& trie, const std::string& texts) {
  const auto bytes = static_cast<std::uint32_t>(trie.size() * sizeof(std::uint32_t));
  std::string result(sizeof bytes + bytes, '\0');
  std::memcpy(result.data(), &bytes, sizeof bytes);
  std::memcpy(result.data() + sizeof bytes, trie.data(), bytes);
  return result + texts;
}

// "a" becomes "xyz", and nothing else is in the table.
std::vector<std::uint32_t> one_entry(std::uint32_t value) {
  std::vector<std::uint32_t> trie(1024, 0);
  trie[0] = unit('\0', 256);
  trie[256 ^ 'a'] = unit('a', (256 ^ 'a') ^ 512, kLeaf);
  trie[512] = 1u << 31 | value;
  return trie;
}

TEST(PrecompiledCharsmapTest, ReplacesWhatItHolds) {
  const auto charsmap = PrecompiledCharsmap::parse(table(one_entry(1), std::string("\0xyz\0", 5)));
  ASSERT_TRUE(charsmap.ok()) << charsmap.error().message;
  EXPECT_TRUE(charsmap->is_sound());
  EXPECT_EQ(charsmap->apply("banana"), "bxyznxyznxyz");
  EXPECT_EQ(charsmap->apply(""), "");
}

TEST(PrecompiledCharsmapTest, RefusesDamagedTables) {
  EXPECT_FALSE(PrecompiledCharsmap::parse("abc").ok());
  EXPECT_FALSE(PrecompiledCharsmap::parse(std::string("\xFF\xFF\xFF\x7F", 4)).ok());
  EXPECT_FALSE(PrecompiledCharsmap::parse(table({0}, "\xFF")).ok());
  EXPECT_FALSE(PrecompiledCharsmap::parse_base64("a*b=").ok());
}

TEST(PrecompiledCharsmapTest, StaysWithinATableThatLeadsOutOfItself) {
  std::vector<std::uint32_t> far = one_entry(1);
  far[256 ^ 'a'] = unit('a', 1 << 20, kLeaf);
  for (const auto& [trie, texts] : std::vector<std::pair<std::vector<std::uint32_t>, std::string>>{
           {far, std::string("\0", 1)}, {one_entry(1 << 30), std::string("\0", 1)}, {one_entry(0), "abc"}}) {
    const auto charsmap = PrecompiledCharsmap::parse(table(trie, texts));
    ASSERT_TRUE(charsmap.ok());
    EXPECT_FALSE(charsmap->is_sound());
    EXPECT_EQ(charsmap->apply("banana"), "banana");
  }
}

}  // namespace
}  // namespace trireme::tokenizer
