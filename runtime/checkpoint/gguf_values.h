// The values of GGUF's metadata: scalars and strings become JSON, arrays stay where they are in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/byte_reader.h"

namespace trireme::checkpoint {

// The numbers are the format's.
enum class GgufValueType : std::uint32_t {
  kUInt8,
  kInt8,
  kUInt16,
  kInt16,
  kUInt32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUInt64,
  kInt64,
  kFloat64,
};

struct GgufArray {
  GgufValueType element_type = GgufValueType::kUInt8;
  std::uint64_t count = 0;
  std::span<const std::byte> bytes;  // exactly `count` elements, as stored
};

bool is_valid_utf8(std::string_view text);

// Both read from where the value begins; their errors say the reason only, not file and key.
base::Result<nlohmann::json> read_gguf_scalar(ByteReader& reader, GgufValueType type);  // or string
base::Result<GgufArray> read_gguf_array(ByteReader& reader);

// Nothing if the elements are of another type, or an integer does not fit.
std::optional<std::vector<std::string_view>> to_strings(const GgufArray& array);
std::optional<std::vector<float>> to_floats(const GgufArray& array);
std::optional<std::vector<std::int32_t>> to_ints(const GgufArray& array);

}  // namespace trireme::checkpoint
