// load: file, environment and command line → one checked configuration. Precedence: command line > environment > file >
// default. Rank 0 reads the file and broadcasts its text, so this takes text; every rank gets the same result from it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/config/config_table.h"

namespace trireme::config {

enum class Source { kDefault, kFile, kEnvironment, kCommandLine };

// Where a value came from.
struct Origin {
  Source source = Source::kDefault;
  std::string where;  // "laptop.yaml:3:12", "TRIREME_DEVICE_THREADS", "--threads"; empty for a default
};

struct ResolvedConfig {
  Config config;
  std::vector<Setting> table;   // config_table()
  std::vector<Origin> origins;  // parallel to table
};

struct ConfigFile {
  std::string text, name;  // `name` is used in messages alone
};

// A setting given on the command line. A later one of the same key wins.
struct Override {
  std::string key;       // "device.threads"
  std::string value;     // as spelled by the user
  std::string spelling;  // "--threads"
};

struct ConfigSources {
  std::optional<ConfigFile> file;
  std::map<std::string, std::string> environment;  // variables whose names begin with TRIREME_; others are ignored
  std::vector<Override> overrides;
};

// Errors are one line, naming the place (file:line:column, variable or flag), the key, and what is expected.
base::Result<ResolvedConfig> load(const ConfigSources& sources);

}  // namespace trireme::config
