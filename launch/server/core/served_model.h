// ServedModel: what endpoints know of the model that the ranks have loaded. Immutable; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/request_spec.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::server {

// What a request that names a model is answered with.
struct ModelChoice {
  std::string name;     // to call it by in the answer
  std::string adapter;  // empty: none
};

struct ServedModel {
  std::vector<std::string> names;     // the first is its own, the others aliases; a request may use any
  std::vector<std::string> adapters;  // each is served as a model of its own name, too
  std::string root;                   // where it was loaded from
  std::int64_t created = 0;           // seconds since 1970
  std::int32_t max_context = 0;       // tokens
  std::int32_t vocab_size = 0;
  const tokenizer::Tokenizer* tokenizer = nullptr;  // outlive this
  const launch::RequestBinder* binder = nullptr;

  // For the name that a request gives; empty: the model itself. nullopt: there is none of that name.
  std::optional<ModelChoice> choose(const std::string& requested) const;
};

}  // namespace trireme::server
