#include "tests/support/checkpoint_writer.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/check.h"
#include "base/dtype.h"
#include "runtime/checkpoint/tensor_type.h"

namespace trireme::test {
namespace {

using checkpoint::TensorType;
using checkpoint::traits_of;

// Numbers of GGUF's value types.
constexpr std::uint32_t kUInt32 = 4, kInt32 = 5, kFloat32 = 6, kBool = 7, kString = 8, kArray = 9;

std::int64_t num_elements(std::span<const std::int64_t> shape) {
  std::int64_t product = 1;
  for (const std::int64_t dimension : shape) product *= dimension;
  return product;
}

// Where a block type keeps its float16 factors, and what they are, per unit of deviation, for uniformly random quants
// (and random scales of sub-blocks).
struct BlockFactors {
  std::size_t factor_offset;
  double factor;
  double minimum;  // stored behind the factor; 0 for types without one
};

BlockFactors factors_of(TensorType type) {
  switch (type) {
    case TensorType::kQ8_0: return {0, 1 / 73.9, 0};
    case TensorType::kQ4_0: return {0, 1 / 4.6, 0};
    case TensorType::kQ4_1: return {0, 1 / 4.6, -7.5 / 4.6};
    case TensorType::kQ5_0: return {0, 1 / 9.2, 0};
    case TensorType::kQ5_1: return {0, 1 / 9.2, -15.5 / 9.2};
    case TensorType::kQ4_K: return {0, 1 / 255.6, 7.5 / 255.6};
    case TensorType::kQ5_K: return {0, 1 / 521.3, 15.5 / 521.3};
    case TensorType::kQ6_K: return {208, 1 / (73.9 * 18.5), 0};
    case TensorType::kF32:
    case TensorType::kF16:
    case TensorType::kBF16:
    case TensorType::kOther: break;
  }
  TRIREME_CHECK(false) << "no block type: " << to_string(type);
  return {};
}

void put_half(std::byte* destination, double value) {
  const std::uint16_t half = base::f32_to_f16(static_cast<float>(value));
  std::memcpy(destination, &half, sizeof half);
}

std::vector<std::byte> random_blocks(TensorType type, std::int64_t num_blocks, double deviation, std::mt19937& random) {
  const auto block_bytes = static_cast<std::size_t>(traits_of(type).block_bytes);
  std::vector<std::byte> bytes(static_cast<std::size_t>(num_blocks) * block_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  const BlockFactors factors = factors_of(type);
  for (std::size_t block = 0; block < bytes.size(); block += block_bytes) {
    std::byte* factor = bytes.data() + block + factors.factor_offset;
    put_half(factor, deviation * factors.factor);
    if (factors.minimum != 0) put_half(factor + 2, deviation * factors.minimum);
  }
  return bytes;
}

void write_file(const std::filesystem::path& file, std::string_view text) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream.close();
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

void write_file(const std::filesystem::path& file, std::span<const std::byte> bytes) {
  write_file(file, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

StoredTensor make_tensor(std::string name, TensorType type, std::vector<std::int64_t> shape,
                         std::span<const float> values) {
  TRIREME_CHECK(num_elements(shape) == static_cast<std::int64_t>(values.size())) << name;
  ByteWriter bytes;
  for (const float value : values) {
    switch (type) {
      case TensorType::kF32: bytes.number(value); break;
      case TensorType::kF16: bytes.number(base::f32_to_f16(value)); break;
      case TensorType::kBF16: bytes.number(base::f32_to_bf16(value)); break;
      default: TRIREME_CHECK(false) << name << ": cannot round to " << to_string(type);
    }
  }
  return {std::move(name), type, std::move(shape), bytes.bytes()};
}

StoredTensor random_tensor(std::string name, TensorType type, std::vector<std::int64_t> shape, double deviation,
                           std::uint32_t seed) {
  std::mt19937 random(seed);
  const std::int64_t count = num_elements(shape);
  const std::int64_t block_size = traits_of(type).block_size;
  if (block_size > 1) {
    TRIREME_CHECK(!shape.empty() && shape.back() % block_size == 0) << name;
    auto bytes = random_blocks(type, count / block_size, deviation, random);
    return {std::move(name), type, std::move(shape), std::move(bytes)};
  }
  std::normal_distribution<double> normal(0.0, deviation);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(normal(random));
  return make_tensor(std::move(name), type, std::move(shape), values);
}

std::vector<std::byte> safetensors_file(std::string_view header, std::span<const std::byte> data) {
  return ByteWriter().string(header).append(data).bytes();
}

std::vector<std::byte> safetensors_file(std::span<const StoredTensor> tensors) {
  auto header = nlohmann::json::object();
  std::vector<std::byte> data;
  for (const StoredTensor& tensor : tensors) {
    const std::size_t begin = data.size();
    data.insert(data.end(), tensor.bytes.begin(), tensor.bytes.end());
    header[tensor.name] = {
        {"dtype", to_string(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  return safetensors_file(header.dump(), data);
}

void write_hugging_face(const std::filesystem::path& folder, const nlohmann::json& config,
                        std::span<const StoredTensor> tensors, int num_shards) {
  std::filesystem::create_directories(folder);
  write_file(folder / "config.json", config.dump(2));
  if (num_shards == 1) return write_file(folder / "model.safetensors", safetensors_file(tensors));
  std::vector<std::vector<StoredTensor>> shards(static_cast<std::size_t>(num_shards));
  for (std::size_t i = 0; i < tensors.size(); ++i) shards[i % shards.size()].push_back(tensors[i]);
  nlohmann::json index = {{"metadata", {{"format", "pt"}}}, {"weight_map", nlohmann::json::object()}};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05d.safetensors", i + 1, num_shards);
    write_file(folder / name, safetensors_file(shards[i]));
    for (const StoredTensor& tensor : shards[i]) index["weight_map"][tensor.name] = name;
  }
  write_file(folder / "model.safetensors.index.json", index.dump(2));
}

GgufWriter& GgufWriter::add_raw(std::string_view key, std::uint32_t value_type, std::span<const std::byte> value) {
  pairs_.string(key).u32(value_type).append(value);
  ++num_pairs_;
  return *this;
}

GgufWriter& GgufWriter::add_u32(std::string_view key, std::uint32_t value) {
  return add_raw(key, kUInt32, ByteWriter().u32(value).bytes());
}

GgufWriter& GgufWriter::add_f32(std::string_view key, float value) {
  return add_raw(key, kFloat32, ByteWriter().number(value).bytes());
}

GgufWriter& GgufWriter::add_bool(std::string_view key, bool value) {
  return add_raw(key, kBool, ByteWriter().number<std::uint8_t>(value ? 1 : 0).bytes());
}

GgufWriter& GgufWriter::add_string(std::string_view key, std::string_view value) {
  return add_raw(key, kString, ByteWriter().string(value).bytes());
}

GgufWriter& GgufWriter::add_strings(std::string_view key, std::span<const std::string> values) {
  ByteWriter array;
  array.u32(kString).u64(values.size());
  for (const std::string& value : values) array.string(value);
  return add_raw(key, kArray, array.bytes());
}

template <typename T>
GgufWriter& GgufWriter::add_array(std::string_view key, std::uint32_t element_type, std::span<const T> values) {
  return add_raw(key, kArray, ByteWriter().u32(element_type).u64(values.size()).append(std::as_bytes(values)).bytes());
}

GgufWriter& GgufWriter::add_floats(std::string_view key, std::span<const float> values) {
  return add_array(key, kFloat32, values);
}

GgufWriter& GgufWriter::add_ints(std::string_view key, std::span<const std::int32_t> values) {
  return add_array(key, kInt32, values);
}

GgufWriter& GgufWriter::add_tensor(const StoredTensor& tensor) {
  data_.pad_to(alignment_);
  infos_.string(tensor.name).u32(static_cast<std::uint32_t>(tensor.shape.size()));
  for (auto dimension = tensor.shape.rbegin(); dimension != tensor.shape.rend(); ++dimension) {
    infos_.u64(static_cast<std::uint64_t>(*dimension));
  }
  infos_.u32(traits_of(tensor.type).ggml_type).u64(data_.bytes().size());
  data_.append(tensor.bytes);
  ++num_tensors_;
  return *this;
}

std::vector<std::byte> GgufWriter::bytes() const {
  const bool states_alignment = alignment_ != 32;
  ByteWriter file;
  file.text("GGUF").u32(3).u64(num_tensors_).u64(num_pairs_ + (states_alignment ? 1 : 0));
  if (states_alignment) file.string("general.alignment").u32(kUInt32).u32(alignment_);
  file.append(pairs_.bytes()).append(infos_.bytes()).pad_to(alignment_).append(data_.bytes()).pad_to(alignment_);
  return file.bytes();
}

void GgufWriter::write(const std::filesystem::path& file) const {
  write_file(file, bytes());
}

}  // namespace trireme::test
