// Writers of small checkpoints: safetensors files, Hugging Face directories and GGUF files with any tensors and
// metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoint/checkpoint.h"
#include "tests/support/byte_writer.h"

namespace trireme::test {

struct StoredTensor {
  std::string name;
  checkpoint::TensorType type = checkpoint::TensorType::kF32;
  std::vector<std::int64_t> shape;  // outermost first
  std::vector<std::byte> bytes;     // as the file stores them
};

// `values` rounded to the nearest of F32, F16 or BF16; no other type.
StoredTensor make_tensor(std::string name, checkpoint::TensorType type, std::vector<std::int64_t> shape,
                         std::span<const float> values);

// Random values of about the given standard deviation: normal for F32, F16 and BF16; for block types random quants with
// factors that give it. The same seed gives the same bytes.
StoredTensor random_tensor(std::string name, checkpoint::TensorType type, std::vector<std::int64_t> shape,
                           double deviation, std::uint32_t seed);

// A safetensors file: of these tensors (F32, F16 and BF16), and of a header as it is written here.
std::vector<std::byte> safetensors_file(std::span<const StoredTensor> tensors);
std::vector<std::byte> safetensors_file(std::string_view header, std::span<const std::byte> data);

// Writes config.json and the tensors as model.safetensors, or, with several shards, dealt out in turn to
// model-00001-of-0000N.safetensors … with their index.
void write_hugging_face(const std::filesystem::path& folder, const nlohmann::json& config,
                        std::span<const StoredTensor> tensors, int num_shards = 1);

// Collects the keys and tensors of one GGUF file, in the order added.
class GgufWriter {
 public:
  explicit GgufWriter(std::uint32_t alignment = 32) : alignment_(alignment) {}

  GgufWriter& add_u32(std::string_view key, std::uint32_t value);
  GgufWriter& add_f32(std::string_view key, float value);
  GgufWriter& add_bool(std::string_view key, bool value);
  GgufWriter& add_string(std::string_view key, std::string_view value);
  GgufWriter& add_strings(std::string_view key, std::span<const std::string> values);
  GgufWriter& add_floats(std::string_view key, std::span<const float> values);
  GgufWriter& add_ints(std::string_view key, std::span<const std::int32_t> values);
  // Any value, also a wrong one: the type's number, then the bytes as given.
  GgufWriter& add_raw(std::string_view key, std::uint32_t value_type, std::span<const std::byte> value);
  GgufWriter& add_tensor(const StoredTensor& tensor);

  std::vector<std::byte> bytes() const;
  void write(const std::filesystem::path& file) const;

 private:
  template <typename T>
  GgufWriter& add_array(std::string_view key, std::uint32_t element_type, std::span<const T> values);

  std::uint32_t alignment_;  // of the data; written as general.alignment unless it is the default, 32
  std::uint64_t num_pairs_ = 0;
  std::uint64_t num_tensors_ = 0;
  ByteWriter pairs_, infos_, data_;
};

}  // namespace trireme::test
