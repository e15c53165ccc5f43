#include "launch/server/core/access.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

namespace trireme::server {
namespace {

// Keys are compared as digests of one length, so that the time of a comparison tells nothing of a key.
std::string digest_of(std::string_view key) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  ::SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(),
           reinterpret_cast<unsigned char*>(digest.data()));
  return digest;
}

base::Status check_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return base::not_found(path + ": no such file of API keys");
  if (!S_ISREG(status.st_mode)) return base::invalid_argument(path + ": not a file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return base::invalid_argument(path + ": others may read these API keys; chmod 600 it");
  }
  return base::ok_status();
}

bool is_plain(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

}  // namespace

base::Result<Access> Access::from_file(const std::string& path) {
  if (auto status = check_file(path); !status) return status.error();
  Access access;
  std::ifstream file(path);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line);
    std::string first, second, rest;
    words >> first >> second >> rest;
    if (first.empty() || first.starts_with('#')) continue;
    const bool has_tenant = !second.empty();
    if (!rest.empty() || !is_plain(first) || !is_plain(second)) {
      return base::invalid_argument(path + ":" + std::to_string(number) +
                                    ": expected KEY or TENANT KEY, of printable ASCII characters");
    }
    access.keys_.push_back({has_tenant ? first : "", digest_of(has_tenant ? second : first)});
  }
  if (access.keys_.empty()) return base::invalid_argument(path + ": holds no API key");
  return access;
}

std::size_t Access::num_tenants() const {
  std::set<std::string_view> tenants;
  for (const Key& key : keys_) tenants.insert(key.tenant);
  return std::max<std::size_t>(tenants.size(), 1);
}

std::optional<std::string> Access::tenant_of(std::string_view key) const {
  if (open()) return "";
  const std::string digest = digest_of(key);
  std::optional<std::string> tenant;
  for (const Key& known : keys_) {
    if (::CRYPTO_memcmp(known.digest.data(), digest.data(), digest.size()) == 0) tenant = known.tenant;
  }
  return tenant;
}

}  // namespace trireme::server
