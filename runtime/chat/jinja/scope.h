// Scope: the variables of one block, and the blocks around it. A name is looked up from the inside out; it is always
// set in the innermost scope, so that what a loop sets is gone behind the loop.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/chat/jinja/value.h"

namespace trireme::chat::jinja {

class Scope {
 public:
  explicit Scope(std::shared_ptr<const Scope> parent) : parent_(std::move(parent)) {}

  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
      for (const auto& [known, value] : scope->variables_) {
        if (known == name) return &value;
      }
    }
    return nullptr;
  }

  void set(std::string_view name, Value value) {
    for (auto& [known, old] : variables_) {
      if (known != name) continue;
      old = std::move(value);
      return;
    }
    variables_.emplace_back(name, std::move(value));
  }

 private:
  std::shared_ptr<const Scope> parent_;
  std::vector<std::pair<std::string, Value>> variables_;  // few
};

using ScopePtr = std::shared_ptr<Scope>;

}  // namespace trireme::chat::jinja
