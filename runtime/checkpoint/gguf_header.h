// Parser of everything in a GGUF file but the weights.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/gguf_values.h"

namespace trireme::checkpoint {

struct GgufHeader {
  GgufHeader();
  GgufHeader(GgufHeader&&) noexcept;
  GgufHeader& operator=(GgufHeader&&) noexcept;
  ~GgufHeader();

  std::unique_ptr<nlohmann::json> metadata;              // without arrays longer than 1,024
  std::map<std::string, GgufArray, std::less<>> arrays;  // all of them
  std::vector<TensorInfo> tensors;                       // in the file's order; data points into the file
  std::size_t header_bytes = 0;                          // up to where the weights begin
};

// `bytes`: the whole file, which outlives the result; `file` names it in messages. Every count, length, offset and type
// is checked against the file before anything is allocated from it.
base::Result<GgufHeader> parse_gguf(std::span<const std::byte> bytes, const std::string& file);

// The same of a header without the weights that belong to it: data of all tensors is null.
base::Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes, const std::string& file);

}  // namespace trireme::checkpoint
