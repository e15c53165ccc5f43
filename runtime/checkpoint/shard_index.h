// Parser of model.safetensors.index.json: which shard holds which tensor.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trireme::checkpoint {

// Tensor name → shard's file name, which is a plain name: no folder, no "..".
using ShardIndex = std::map<std::string, std::string, std::less<>>;

base::Result<ShardIndex> parse_shard_index(std::string_view text, const std::string& file);

}  // namespace trireme::checkpoint
