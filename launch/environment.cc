#include "launch/environment.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace trireme::launch {

bool environment_has(const char* name) {
  return std::getenv(name) != nullptr;
}

std::map<std::string, std::string> trireme_variables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (!text.starts_with("TRIREME_") || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

int rank_from_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    if (const char* rank = std::getenv(name)) return std::atoi(rank);
  }
  return 0;
}

}  // namespace trireme::launch
