// configs/README.md and the presets beside it must agree with the table of settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/config/load.h"

namespace trireme::config {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + text + "`";
}

std::string documentation_row(const Setting& setting) {
  const std::string default_text = setting.default_text().empty() ? "empty" : code(setting.default_text());
  return "| " + code(setting.key()) + " | " + code(setting.flag) + " | " + setting.unit + " | " + default_text + " | " +
         setting.range + " | " + setting.help + " |";
}

std::vector<std::string> expected_rows() {
  std::vector<std::string> rows;
  for (const Setting& setting : config_table()) rows.push_back(documentation_row(setting));
  return rows;
}

TEST(ConfigReadme, HasOneRowForEachSettingInTheOrderOfTheTable) {
  std::istringstream readme(read_file(std::filesystem::path(TRIREME_CONFIGS) / "README.md"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(readme, line);) {
    if (line.starts_with("| `") && line.find('.') < line.find('|', 1)) rows.push_back(line);
  }
  std::string wanted;
  for (const std::string& row : expected_rows()) wanted += row + "\n";
  EXPECT_EQ(rows, expected_rows()) << "configs/README.md should have these rows:\n" << wanted;
}

TEST(Presets, AllLoad) {
  int num_presets = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TRIREME_CONFIGS)) {
    if (entry.path().extension() != ".yaml") continue;
    ++num_presets;
    const base::Result<ResolvedConfig> loaded = load(
        {.file = ConfigFile{read_file(entry.path()), entry.path().filename()}, .environment = {}, .overrides = {}});
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
  }
  EXPECT_GE(num_presets, 3);
}

}  // namespace
}  // namespace trireme::config
