// What each TensorType is in the files: its names, its blocks, and the function that widens it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/widen.h"

namespace trireme::checkpoint {

struct TensorTypeTraits {
  TensorType type;
  std::string_view name;
  std::uint32_t ggml_type;  // the number that GGUF stores
  std::int64_t block_size;  // elements that are stored together; a row is a whole number of blocks
  std::int64_t block_bytes;
  WidenFunction widen;
};

const TensorTypeTraits& traits_of(TensorType type);
const TensorTypeTraits* find_tensor_type(std::string_view name);  // null: no such name
// Null for types that cannot be widened here, among them those of the functions below.
const TensorTypeTraits* find_ggml_type(std::uint32_t ggml_type);
const TensorTypeTraits* find_safetensors_dtype(std::string_view dtype);

// Types that exist and cannot be widened here. Of ggml's, only the name is known; of safetensors', the bytes of an
// element, too.
bool is_other_ggml_type(std::uint32_t ggml_type);
std::optional<std::int64_t> other_safetensors_element_bytes(std::string_view dtype);

// For messages: also of the types that we do not widen, and of numbers that mean nothing.
std::string ggml_type_name(std::uint32_t ggml_type);

// Bytes of a tensor that has `shape` (non-negative; outermost first), or nothing if the non-zero dimensions' product or
// the bytes overflow 63 bits, or a row is no whole number of blocks.
std::optional<std::size_t> tensor_bytes(const TensorTypeTraits& traits, std::span<const std::int64_t> shape);

}  // namespace trireme::checkpoint
