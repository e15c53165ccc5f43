#include "launch/server/http/router.h"

namespace trireme::http {

std::variant<const Route*, Router::NoRoute> Router::find(const std::string& method, const std::string& path) const {
  bool path_known = false;
  for (const Route& route : routes_) {
    if (route.path != path) continue;
    if (route.method == method) return &route;
    path_known = true;
  }
  if (path_known) return NoRoute{405, "this path does not take the method"};
  return NoRoute{404, "no such path"};
}

}  // namespace trireme::http
