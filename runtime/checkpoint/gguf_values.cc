#include "runtime/checkpoint/gguf_values.h"

#include <utf8proc.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace trireme::checkpoint {
namespace {

constexpr std::uint64_t kMinStringBytes = 8;  // its length field

// 0 for types of no fixed size and for numbers that are no type.
std::uint64_t fixed_size(GgufValueType type) {
  switch (type) {
    case GgufValueType::kUInt8:
    case GgufValueType::kInt8:
    case GgufValueType::kBool: return 1;
    case GgufValueType::kUInt16:
    case GgufValueType::kInt16: return 2;
    case GgufValueType::kUInt32:
    case GgufValueType::kInt32:
    case GgufValueType::kFloat32: return 4;
    case GgufValueType::kUInt64:
    case GgufValueType::kInt64:
    case GgufValueType::kFloat64: return 8;
    case GgufValueType::kString:
    case GgufValueType::kArray: return 0;
  }
  return 0;
}

base::Error ends_early() {
  return base::invalid_argument("value ends past the end of the file");
}

base::Error unknown_type(GgufValueType type) {
  return base::invalid_argument("unknown value type " + std::to_string(static_cast<std::uint32_t>(type)));
}

template <typename T>
base::Result<nlohmann::json> read_number(ByteReader& reader) {
  const T value = reader.read<T>();
  if (!reader.ok()) return ends_early();
  return nlohmann::json(value);
}

base::Result<nlohmann::json> read_bool(ByteReader& reader) {
  const auto value = reader.read<std::uint8_t>();
  if (!reader.ok()) return ends_early();
  if (value > 1) return base::invalid_argument("a bool must be 0 or 1");
  return nlohmann::json(value == 1);
}

base::Result<nlohmann::json> read_text(ByteReader& reader) {
  const std::string_view value = reader.read_string();
  if (!reader.ok()) return ends_early();
  if (!is_valid_utf8(value)) return base::invalid_argument("string is not UTF-8");
  return nlohmann::json(value);
}

template <typename T>
std::optional<std::vector<std::int32_t>> narrow(const GgufArray& array) {
  std::vector<std::int32_t> result;
  result.reserve(array.count);
  ByteReader reader(array.bytes);
  for (std::uint64_t i = 0; i < array.count; ++i) {
    const T value = reader.read<T>();
    if (!std::in_range<std::int32_t>(value)) return std::nullopt;
    result.push_back(static_cast<std::int32_t>(value));
  }
  return result;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  auto remaining = static_cast<utf8proc_ssize_t>(text.size());
  while (remaining > 0) {
    utf8proc_int32_t code_point;
    const utf8proc_ssize_t length = utf8proc_iterate(bytes, remaining, &code_point);
    if (length <= 0) return false;
    bytes += length;
    remaining -= length;
  }
  return true;
}

base::Result<nlohmann::json> read_gguf_scalar(ByteReader& reader, GgufValueType type) {
  switch (type) {
    case GgufValueType::kUInt8: return read_number<std::uint8_t>(reader);
    case GgufValueType::kInt8: return read_number<std::int8_t>(reader);
    case GgufValueType::kUInt16: return read_number<std::uint16_t>(reader);
    case GgufValueType::kInt16: return read_number<std::int16_t>(reader);
    case GgufValueType::kUInt32: return read_number<std::uint32_t>(reader);
    case GgufValueType::kInt32: return read_number<std::int32_t>(reader);
    case GgufValueType::kUInt64: return read_number<std::uint64_t>(reader);
    case GgufValueType::kInt64: return read_number<std::int64_t>(reader);
    case GgufValueType::kFloat32: return read_number<float>(reader);
    case GgufValueType::kFloat64: return read_number<double>(reader);
    case GgufValueType::kBool: return read_bool(reader);
    case GgufValueType::kString: return read_text(reader);
    case GgufValueType::kArray: break;
  }
  return unknown_type(type);
}

base::Result<GgufArray> read_gguf_array(ByteReader& reader) {
  GgufArray array;
  array.element_type = static_cast<GgufValueType>(reader.read<std::uint32_t>());
  array.count = reader.read<std::uint64_t>();
  if (!reader.ok()) return ends_early();
  if (array.element_type == GgufValueType::kArray) return base::unsupported("arrays of arrays are not supported");
  const bool strings = array.element_type == GgufValueType::kString;
  const std::uint64_t min_element_bytes = strings ? kMinStringBytes : fixed_size(array.element_type);
  if (min_element_bytes == 0) return unknown_type(array.element_type);
  if (array.count > reader.remaining() / min_element_bytes) {
    return base::invalid_argument("array of " + std::to_string(array.count) +
                                  " elements ends past the end of the file");
  }
  ByteReader elements = reader;
  for (std::uint64_t i = 0; strings && i < array.count && elements.ok(); ++i) elements.read_string();
  if (!elements.ok()) return ends_early();
  array.bytes = reader.read_bytes(strings ? elements.position() - reader.position() : array.count * min_element_bytes);
  return array;
}

std::optional<std::vector<std::string_view>> to_strings(const GgufArray& array) {
  if (array.element_type != GgufValueType::kString) return std::nullopt;
  std::vector<std::string_view> result;
  result.reserve(array.count);
  ByteReader reader(array.bytes);
  for (std::uint64_t i = 0; i < array.count; ++i) result.push_back(reader.read_string());
  return result;
}

std::optional<std::vector<float>> to_floats(const GgufArray& array) {
  if (array.element_type != GgufValueType::kFloat32) return std::nullopt;
  std::vector<float> result(array.count);
  if (!result.empty()) std::memcpy(result.data(), array.bytes.data(), array.bytes.size());
  return result;
}

std::optional<std::vector<std::int32_t>> to_ints(const GgufArray& array) {
  switch (array.element_type) {
    case GgufValueType::kUInt8: return narrow<std::uint8_t>(array);
    case GgufValueType::kInt8: return narrow<std::int8_t>(array);
    case GgufValueType::kUInt16: return narrow<std::uint16_t>(array);
    case GgufValueType::kInt16: return narrow<std::int16_t>(array);
    case GgufValueType::kUInt32: return narrow<std::uint32_t>(array);
    case GgufValueType::kInt32: return narrow<std::int32_t>(array);
    case GgufValueType::kUInt64: return narrow<std::uint64_t>(array);
    case GgufValueType::kInt64: return narrow<std::int64_t>(array);
    case GgufValueType::kFloat32:
    case GgufValueType::kFloat64:
    case GgufValueType::kBool:
    case GgufValueType::kString:
    case GgufValueType::kArray: break;
  }
  return std::nullopt;
}

}  // namespace trireme::checkpoint
