#include "runtime/checkpoint/tensor_type.h"

#include <array>

#include "base/check.h"

namespace trireme::checkpoint {
namespace {

constexpr std::array<TensorTypeTraits, 11> kTraits = {{
    {TensorType::kF32, "F32", 0, 1, 4, widen_f32},
    {TensorType::kF16, "F16", 1, 1, 2, widen_f16},
    {TensorType::kBF16, "BF16", 30, 1, 2, widen_bf16},
    {TensorType::kQ8_0, "Q8_0", 8, 32, 34, widen_q8_0},
    {TensorType::kQ4_0, "Q4_0", 2, 32, 18, widen_q4_0},
    {TensorType::kQ4_1, "Q4_1", 3, 32, 20, widen_q4_1},
    {TensorType::kQ5_0, "Q5_0", 6, 32, 22, widen_q5_0},
    {TensorType::kQ5_1, "Q5_1", 7, 32, 24, widen_q5_1},
    {TensorType::kQ4_K, "Q4_K", 12, 256, 144, widen_q4_k},
    {TensorType::kQ5_K, "Q5_K", 13, 256, 176, widen_q5_k},
    {TensorType::kQ6_K, "Q6_K", 14, 256, 210, widen_q6_k},
}};

// Types that ggml defines and we do not widen; a removed one keeps its number.
struct OtherType {
  std::uint32_t ggml_type;
  std::string_view name;
};
constexpr std::string_view kRemoved = "(removed)";
constexpr OtherType kOtherTypes[] = {
    {4, "Q4_2 (removed)"},
    {5, "Q4_3 (removed)"},
    {9, "Q8_1"},
    {10, "Q2_K"},
    {11, "Q3_K"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M"},
    {31, "Q4_0_4_4 (removed)"},
    {32, "Q4_0_4_8 (removed)"},
    {33, "Q4_0_8_8 (removed)"},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
};

struct OtherDtype {
  std::string_view name;
  std::int64_t element_bytes;
};
constexpr OtherDtype kOtherDtypes[] = {{"F64", 8},     {"I64", 8},     {"U64", 8},    {"I32", 4}, {"U32", 4},
                                       {"I16", 2},     {"U16", 2},     {"I8", 1},     {"U8", 1},  {"BOOL", 1},
                                       {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"F8_E8M0", 1}};

}  // namespace

const TensorTypeTraits& traits_of(TensorType type) {
  for (const auto& traits : kTraits) {
    if (traits.type == type) return traits;
  }
  TRIREME_CHECK(false) << "tensor type " << static_cast<int>(type);
  return kTraits[0];
}

const TensorTypeTraits* find_tensor_type(std::string_view name) {
  for (const auto& traits : kTraits) {
    if (traits.name == name) return &traits;
  }
  return nullptr;
}

const TensorTypeTraits* find_ggml_type(std::uint32_t ggml_type) {
  for (const auto& traits : kTraits) {
    if (traits.ggml_type == ggml_type) return &traits;
  }
  return nullptr;
}

const TensorTypeTraits* find_safetensors_dtype(std::string_view dtype) {
  const TensorTypeTraits* traits = find_tensor_type(dtype);
  return traits != nullptr && traits->block_size == 1 ? traits : nullptr;
}

bool is_other_ggml_type(std::uint32_t ggml_type) {
  for (const auto& other : kOtherTypes) {
    if (other.ggml_type == ggml_type) return !other.name.ends_with(kRemoved);
  }
  return false;
}

std::optional<std::int64_t> other_safetensors_element_bytes(std::string_view dtype) {
  for (const auto& other : kOtherDtypes) {
    if (other.name == dtype) return other.element_bytes;
  }
  return std::nullopt;
}

std::string ggml_type_name(std::uint32_t ggml_type) {
  if (const auto* traits = find_ggml_type(ggml_type)) return std::string(traits->name);
  for (const auto& other : kOtherTypes) {
    if (other.ggml_type == ggml_type) return std::string(other.name);
  }
  return "number " + std::to_string(ggml_type);
}

std::optional<std::size_t> tensor_bytes(const TensorTypeTraits& traits, std::span<const std::int64_t> shape) {
  std::int64_t product = 1;  // of the non-zero dimensions, so that no product of some of them overflows either
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    if (dimension == 0) {
      empty = true;
    } else if (dimension < 0 || __builtin_mul_overflow(product, dimension, &product)) {
      return std::nullopt;
    }
  }
  const std::int64_t row_size = shape.empty() ? 1 : shape.back();
  if (row_size % traits.block_size != 0) return std::nullopt;
  if (empty) return 0;
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(product / traits.block_size, traits.block_bytes, &bytes)) return std::nullopt;
  return static_cast<std::size_t>(bytes);
}

std::string_view to_string(TensorType type) {
  return type == TensorType::kOther ? "other" : traits_of(type).name;
}

}  // namespace trireme::checkpoint
