#include "runtime/checkpoint/shard_index.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/error_text.h"

namespace trireme::checkpoint {
namespace {

constexpr std::size_t kMaxIndexBytes = 64 << 20;  // about ten times that of the largest models

// A file of the folder itself. What it links to is the user's affair: downloads often keep shards as links into a
// cache.
bool is_plain_file_name(std::string_view name) {
  const auto is_bad = [](char c) { return c == '/' || static_cast<unsigned char>(c) < ' '; };
  return !name.empty() && name != "." && name != ".." && std::none_of(name.begin(), name.end(), is_bad);
}

}  // namespace

base::Result<ShardIndex> parse_shard_index(std::string_view text, const std::string& file) {
  if (text.size() > kMaxIndexBytes) return base::invalid_argument(file + ": larger than 64 MiB");
  const auto document = parse_bounded_json(text, file);
  if (!document) return document.error();
  const nlohmann::json& root = *document;
  if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object()) {
    return base::invalid_argument(file + ": needs an object with an object 'weight_map'");
  }
  ShardIndex index;
  for (const auto& [tensor, shard] : root["weight_map"].items()) {
    if (!shard.is_string()) {
      return base::invalid_argument(file + ": tensor " + in_quotes(tensor) + ": shard must be a string");
    }
    const auto& name = shard.get_ref<const std::string&>();
    if (!is_plain_file_name(name)) {
      return base::invalid_argument(file + ": tensor " + in_quotes(tensor) + ": shard " + in_quotes(name) +
                                    " is not a file name in this folder");
    }
    index.emplace(tensor, name);
  }
  return index;
}

}  // namespace trireme::checkpoint
