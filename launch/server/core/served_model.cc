#include "launch/server/core/served_model.h"

#include <algorithm>

namespace trireme::server {

std::optional<ModelChoice> ServedModel::choose(const std::string& requested) const {
  if (requested.empty()) return ModelChoice{names.front(), ""};
  const auto has = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), requested) != list.end();
  };
  if (has(names)) return ModelChoice{requested, ""};
  if (has(adapters)) return ModelChoice{requested, requested};
  return std::nullopt;
}

}  // namespace trireme::server
