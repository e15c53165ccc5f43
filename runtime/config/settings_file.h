// Reads the text of a configuration file: YAML restricted to `section: {name: scalar or list}`. What a name or value
// means is not known here. Hostile text is refused quickly and in little memory, since nothing is built from it but
// this list: no anchors, aliases, tags, second documents, deep nesting, control characters or large files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trireme::config {

struct Position {
  int line = 0, column = 0;  // from 1; 0: not known
};

struct FileSetting {
  std::string section, name;
  std::string value;  // items of a list with commas between
  bool is_list = false;
  bool is_quoted = false;  // or an item of the list is
  bool is_null = false;    // nothing, or ~
  Position section_position, name_position, value_position;
};

inline constexpr std::size_t kMaxFileBytes = 256 * 1024;

// "file:line:column", or "file" where the position is not known. Control characters of the name are shown as '?'.
std::string describe_position(std::string_view file_name, Position position);

// Settings in the order of the file; each (section, name) occurs once. Errors begin with file:line:column.
base::Result<std::vector<FileSetting>> read_settings_file(std::string_view text, std::string_view file_name);

}  // namespace trireme::config
