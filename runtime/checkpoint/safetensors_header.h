// Parser of one safetensors file: an 8-byte little-endian length, that many bytes of JSON, then the tensors' bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"

namespace trireme::checkpoint {

struct SafetensorsHeader {
  std::vector<TensorInfo> tensors;  // sorted by name; data points into the file
  std::size_t header_bytes = 0;     // with the length field
};

// `bytes`: the whole file, which outlives the result; `file` names it in messages. The tensors must cover the data
// exactly, each once, and be of types that can be widened.
base::Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> bytes, const std::string& file);

}  // namespace trireme::checkpoint
