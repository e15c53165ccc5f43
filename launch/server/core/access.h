// Access: API keys, and the tenant that each stands for. Immutable; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace trireme::server {

class Access {
 public:
  Access() = default;  // open: no key is needed, and all are the tenant ""

  // One key per line, "KEY" or "TENANT KEY"; blank lines and lines that begin with # are passed over. Errors: the file
  // is missing, holds no key or a malformed one, or others than its owner may read it.
  static base::Result<Access> from_file(const std::string& path);

  bool open() const { return keys_.empty(); }
  std::size_t num_tenants() const;
  // The tenant of a key; nothing if there is no such key. Takes the same time for all keys of one length.
  std::optional<std::string> tenant_of(std::string_view key) const;

 private:
  struct Key {
    std::string tenant, digest;  // SHA-256
  };
  std::vector<Key> keys_;
};

}  // namespace trireme::server
