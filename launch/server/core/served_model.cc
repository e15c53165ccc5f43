#include "launch/server/core/served_model.h"

#include <algorithm>

namespace trireme::server {

bool ServedModel::has_name(const std::string& name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace trireme::server
