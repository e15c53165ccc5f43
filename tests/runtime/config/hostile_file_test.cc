// Files that are no configuration must be refused quickly and in little memory; the time-out of this program and the
// limit on the size of the process bound both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <functional>
#include <string>

#include "runtime/config/load.h"
#include "runtime/config/settings_file.h"

namespace trireme::config {
namespace {

std::string repeat(const std::string& text, std::size_t times) {
  std::string result;
  result.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string alias_bomb() {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 9; ++level) {
    const std::string alias = "*a" + std::to_string(level - 1);
    text +=
        "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + repeat(alias + ", ", 8) + alias + "]\n";
  }
  return text;
}

struct Hostile {
  const char* name;
  std::function<std::string()> text;
  const char* message;
};

class HostileFile : public testing::TestWithParam<Hostile> {};

TEST_P(HostileFile, IsRefusedWithOneLine) {
  const base::Result<ResolvedConfig> loaded =
      load({.file = ConfigFile{GetParam().text(), "bad.yaml"}, .environment = {}, .overrides = {}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_THAT(loaded.error().message, testing::StartsWith("bad.yaml"));
  EXPECT_THAT(loaded.error().message, testing::HasSubstr(GetParam().message));
  EXPECT_LT(loaded.error().message.size(), 300u);
  EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
}

constexpr std::size_t kLarge = kMaxFileBytes - 1024;

INSTANTIATE_TEST_SUITE_P(
    Kinds, HostileFile,
    testing::Values(
        Hostile{"empty", [] { return std::string(); }, "holds no setting"},
        Hostile{"blank", [] { return std::string(" \n\n"); }, "holds no setting"},
        Hostile{"comments", [] { return std::string("# nothing\n"); }, "holds no setting"},
        Hostile{"separator", [] { return std::string("---\n"); }, "holds no setting"},
        Hostile{"empty_sections", [] { return std::string("device:\nmodel: {}\n"); }, "holds no setting"},
        Hostile{"ten_megabytes", [] { return "device: {kind: cpu} # " + std::string(10 << 20, 'x'); }, "larger than"},
        Hostile{"alias_bomb", alias_bomb, "anchors"},
        Hostile{"alias", [] { return std::string("device: {threads: *x}"); }, "anchor is not defined"},
        Hostile{"anchor", [] { return std::string("device: {threads: &x 2}"); }, "anchors"},
        Hostile{"tag", [] { return std::string("device: {threads: !!int 2}"); }, "tags"},
        Hostile{"own_tag", [] { return std::string("device: !python/object {threads: 2}"); }, "tags"},
        Hostile{"deep_list", [] { return std::string(kLarge, '['); }, "bad.yaml:1:"},
        Hostile{"deep_map", [] { return std::string(kLarge, '{'); }, "bad.yaml:1:"},
        Hostile{"deep_value", [] { return "device: {threads: " + std::string(kLarge, '['); }, "bad.yaml:1:"},
        Hostile{"deep_keys", [] { return repeat("? ", kLarge / 2); }, "bad.yaml:1:"},
        Hostile{"deep_dashes", [] { return repeat("- ", kLarge / 2); }, "bad.yaml:1:"},
        Hostile{"long_key", [] { return std::string(kLarge, 'k') + ": 1"; }, "bad.yaml:1:"},
        Hostile{"long_value", [] { return "model: {path: " + std::string(kLarge, 'p') + "}"; }, "longer than 4096"},
        Hostile{"many_keys", [] { return "model:\n" + repeat("  x: 1\n", kLarge / 8); }, "duplicate key 'x'"},
        Hostile{"many_documents", [] { return repeat("--- {}\n", kLarge / 8); }, "only one YAML document"},
        Hostile{"second_document", [] { return std::string("device: {kind: cpu}\n---\nmodel: {}\n"); }, "only one"},
        Hostile{"tab_indent", [] { return std::string("device:\n\tthreads: 2\n"); },
                "bad.yaml:2:1: a tab cannot indent"},
        Hostile{"tab_after_blank", [] { return std::string("device:\n \tkind: cpu\n"); }, "bad.yaml:2:2: a tab"},
        Hostile{"latin1",
                [] {
                  return std::string(
                      "model: {path: Gr\xFC\xDF"
                      "e}");
                },
                "bad.yaml:1:17: not UTF-8"},
        Hostile{"utf16",
                [] {
                  return std::string(
                      "\xFF\xFE"
                      "d\0e\0",
                      6);
                },
                "not UTF-8"},
        Hostile{"nul", [] { return std::string("device: {kind: cpu}\0 #", 22); }, "bad.yaml:1:20: not UTF-8"},
        Hostile{"end_of_transmission", [] { return std::string("device: {kind: cpu}\n\x04"); }, "bad.yaml:2:1"},
        Hostile{"unterminated", [] { return std::string("device: {threads: 2"); }, "bad.yaml:1:"},
        Hostile{"unterminated_quote", [] { return std::string("model: {path: \"x"); }, "bad.yaml:1:"},
        Hostile{"scalar", [] { return std::string("hello"); }, "expected sections"},
        Hostile{"list", [] { return std::string("- device\n- model\n"); }, "a list has no place here"},
        Hostile{"garbage_after", [] { return std::string("{device: {kind: cpu}} x"); }, "bad.yaml:1:"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(HostileFiles, TakeLittleMemory) {
  for (const std::string& text : {std::string(kLarge, '['), std::string(kLarge, '{'), repeat("- ", kLarge / 2),
                                  repeat("a: ", kLarge / 3), repeat("? ", kLarge / 2), alias_bomb()}) {
    EXPECT_FALSE(read_settings_file(text, "bad.yaml").ok());
  }
  rusage usage{};
  ASSERT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  EXPECT_LT(usage.ru_maxrss, 256 * 1024) << "KiB at the peak, of this whole program";
}

TEST(ConfigFile, MayBeginWithAByteOrderMark) {
  EXPECT_TRUE(read_settings_file("\xEF\xBB\xBF"
                                 "device: {kind: cpu}\r\n",
                                 "bom.yaml")
                  .ok());
}

TEST(ConfigFile, NameIsShownWithoutControlCharacters) {
  EXPECT_EQ(describe_position("a\nb", {3, 4}), "a?b:3:4");
  EXPECT_EQ(describe_position("a.yaml", {}), "a.yaml");
}

}  // namespace
}  // namespace trireme::config
