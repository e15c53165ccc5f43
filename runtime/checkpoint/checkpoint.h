// Checkpoint: a model's files, memory-mapped and checked against hostile content when opened. Opening reads headers
// only; weights are touched by read_rows alone, so that each rank reads just its own layers' bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trireme::checkpoint {

class GgufFile;
class SideFiles;
struct Conversion;

enum class Format { kHuggingFace, kGguf };

// How a tensor's elements are stored in the file. The block types are those of GGUF. kOther: a type that exists, but
// cannot be read here; a file may hold such a tensor as long as nothing needs it.
enum class TensorType { kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ4_K, kQ5_K, kQ6_K, kOther };

std::string_view to_string(TensorType type);  // "F32", "Q4_1", …

struct TensorInfo {
  std::string name;
  TensorType type = TensorType::kF32;
  std::vector<std::int64_t> shape;  // outermost first, row-major: a Linear's weight is [out_features, in_features]
  const std::byte* data = nullptr;  // mapped; `bytes` long
  std::size_t bytes = 0;
  std::string file;            // for messages
  std::string type_name = "";  // as the file names it, also of kOther

  std::int64_t num_rows() const;  // product of all dimensions but the last; 1 for a vector
  std::int64_t row_size() const;  // the last dimension
};

// One of a model's files. It is mapped as a whole, from the header's first byte on.
struct FileHeader {
  std::span<const std::byte> bytes;  // all that precedes the weights
  std::uint64_t file_bytes = 0;
};

class Checkpoint {
 public:
  // `path`: a GGUF file, a Hugging Face directory, a directory that holds exactly one GGUF file, or what 'trireme
  // convert' made of one of these.
  // Errors are one line naming file, tensor or key, and reason.
  static base::Result<std::unique_ptr<Checkpoint>> open(const std::filesystem::path& path);
  // A PEFT directory: adapter_config.json and adapter_model.safetensors.
  static base::Result<std::unique_ptr<Checkpoint>> open_adapter(const std::filesystem::path& path);
  virtual ~Checkpoint() = default;

  virtual Format format() const = 0;  // of a converted model: its source's
  const std::filesystem::path& path() const { return path_; }
  // Hugging Face: the object in config.json. GGUF: an object of its keys ("llama.block_count": 30), without the
  // tokenizer's long arrays.
  virtual const nlohmann::json& metadata() const = 0;
  // The GGUF file itself, for its arrays; null for the other format.
  virtual const GgufFile* gguf() const { return nullptr; }
  // What lies beside the weights (tokenizer.json, …) in Hugging Face's format; null for the other.
  virtual const SideFiles* side_files() const { return nullptr; }
  // What 'trireme convert' made of the weights; null unless it wrote the file.
  virtual const Conversion* conversion() const { return nullptr; }

  std::span<const TensorInfo> tensors() const { return tensors_; }  // sorted by name
  const TensorInfo* find(std::string_view name) const;

  // Whether the tensor can be read at all; the error names file, tensor and type.
  static base::Status check_readable(const TensorInfo& tensor);
  // Widens rows [begin, end) to float32: output is [end - begin, row_size]. Any thread. Precondition:
  // check_readable.
  static void read_rows(const TensorInfo& tensor, std::int64_t begin, std::int64_t end, float* output);

  // Widens elements [begin, end) of the tensor as it lies, both multiples of its type's block. Any thread.
  static void read_elements(const TensorInfo& tensor, std::int64_t begin, std::int64_t end, float* output);

  // In a fixed order; a Hugging Face directory's side files are not among them, but for config.json.
  std::span<const FileHeader> headers() const { return headers_; }

  // 64-bit hash of headers, sizes and bytes sampled over the weights, equal on all ranks that see the same model.
  std::uint64_t fingerprint() const;
  // Of several checkpoints together: `before` of those so far, in their order, and this one.
  std::uint64_t fingerprint_after(std::uint64_t before) const;

 protected:
  std::filesystem::path path_;
  std::vector<TensorInfo> tensors_;
  std::vector<FileHeader> headers_;
};

}  // namespace trireme::checkpoint
