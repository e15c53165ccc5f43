// The table of all settings: key, short flag, type, unit, range, help and access to the field of Config. The command
// line, the environment, the file reader, --print-config and configs/README.md all follow it; a new setting is a field
// in config.h and one entry here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/config/config.h"

namespace trireme::config {

enum class ValueType { kText, kChoice, kBoolean, kWholeNumber, kRealNumber, kList, kTextList };

struct Setting {
  std::string section;  // "kv_cache"
  std::string name;     // "memory_bytes"
  std::string flag;     // short spelling on the command line, "--kv-memory"; empty: only --kv_cache.memory_bytes
  ValueType type = ValueType::kText;
  std::string unit;   // "tokens", "bytes", "ms"; may be empty
  std::string range;  // as a user reads it: "1 to 1024, or auto", "f32, f16 or bf16"
  std::string help;   // one line

  // Checks the text and stores it. The error says what was expected, without naming the key.
  std::function<base::Status(Config&, std::string_view text)> parse;
  // The canonical spelling, which parse() reads back to the same value.
  std::function<std::string(const Config&)> format;

  std::string key() const { return section + "." + name; }
  std::string long_flag() const { return "--" + key(); }
  std::string environment_name() const;  // TRIREME_KV_CACHE_MEMORY_BYTES
  std::string default_text() const { return format(Config{}); }
};

// In the order of the fields of Config, sections together. Cheap to build; the caller keeps it.
std::vector<Setting> config_table();

}  // namespace trireme::config
