// ServedModel: what endpoints know of the model that the ranks have loaded. Immutable; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/request_spec.h"
#include "runtime/tokenizer/tokenizer.h"

namespace trireme::server {

struct ServedModel {
  std::vector<std::string> names;  // the first is its own, the others aliases; a request may use any
  std::string root;                // where it was loaded from
  std::int64_t created = 0;        // seconds since 1970
  std::int32_t max_context = 0;    // tokens
  std::int32_t vocab_size = 0;
  const tokenizer::Tokenizer* tokenizer = nullptr;  // outlive this
  const launch::RequestBinder* binder = nullptr;

  bool has_name(const std::string& name) const;
};

}  // namespace trireme::server
