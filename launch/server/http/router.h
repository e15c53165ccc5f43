// Router: the table of routes. Each says who may use it and where its handler runs.
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "launch/server/http/exchange.h"

namespace trireme::http {

enum class Needs { kNothing, kKey, kKeyAndModel };
enum class RunsOn { kConnectionThread, kWorker };  // a worker where text is parsed, or much is written

struct Route {
  std::string method, path;
  Needs needs = Needs::kKey;
  RunsOn runs_on = RunsOn::kConnectionThread;
  std::function<void(const ExchangePtr&)> handler;
};

class Router {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& routes() const { return routes_; }

  struct NoRoute {
    int status = 404;  // or 405: the path is known, but not with this method
    std::string message;
  };
  // Both live as long as this.
  std::variant<const Route*, NoRoute> find(const std::string& method, const std::string& path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace trireme::http
