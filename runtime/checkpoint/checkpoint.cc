#include "runtime/checkpoint/checkpoint.h"

#include <algorithm>
#include <system_error>

#include "base/check.h"
#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/fingerprint.h"
#include "runtime/checkpoint/gguf_checkpoint.h"
#include "runtime/checkpoint/hdf5/hdf5_checkpoint.h"
#include "runtime/checkpoint/hugging_face_checkpoint.h"
#include "runtime/checkpoint/tensor_type.h"

namespace trireme::checkpoint {
namespace {

namespace fs = std::filesystem;

base::Result<std::unique_ptr<Checkpoint>> open_directory(const fs::path& path) {
  if (holds_safetensors(path)) return HuggingFaceCheckpoint::open(path);
  std::error_code error;
  std::vector<fs::path> gguf_files;
  for (fs::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".gguf") gguf_files.push_back(entry->path());
  }
  if (error) return base::invalid_argument(path.string() + ": " + error.message());
  if (gguf_files.size() == 1) return GgufCheckpoint::open(gguf_files[0]);
  if (gguf_files.empty()) {
    return base::not_found(path.string() + ": holds neither model.safetensors, nor its index, nor a GGUF file");
  }
  return base::invalid_argument(path.string() + ": holds " + std::to_string(gguf_files.size()) +
                                " GGUF files: name one of them");
}

}  // namespace

std::int64_t TensorInfo::num_rows() const {
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return rows;
}

std::int64_t TensorInfo::row_size() const {
  return shape.empty() ? 1 : shape.back();
}

base::Result<std::unique_ptr<Checkpoint>> Checkpoint::open(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return base::not_found(path.string() + ": no such file or directory");
  if (error) return base::invalid_argument(path.string() + ": " + error.message());
  if (fs::is_directory(status)) return open_directory(path);
  return Hdf5Checkpoint::is_meant(path) ? Hdf5Checkpoint::open(path) : GgufCheckpoint::open(path);
}

base::Result<std::unique_ptr<Checkpoint>> Checkpoint::open_adapter(const fs::path& path) {
  return HuggingFaceCheckpoint::open(
      path, {"adapter_config.json", "adapter_model.safetensors", "adapter_model.safetensors.index.json"});
}

const TensorInfo* Checkpoint::find(std::string_view name) const {
  const auto found = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                      [](const TensorInfo& tensor, std::string_view key) { return tensor.name < key; });
  return found != tensors_.end() && found->name == name ? &*found : nullptr;
}

base::Status Checkpoint::check_readable(const TensorInfo& tensor) {
  if (tensor.type != TensorType::kOther) return base::ok_status();
  return base::unsupported(tensor.file + ": tensor " + in_quotes(tensor.name) + ": unsupported type " +
                           tensor.type_name);
}

void Checkpoint::read_rows(const TensorInfo& tensor, std::int64_t begin, std::int64_t end, float* output) {
  TRIREME_CHECK(0 <= begin && begin <= end && end <= tensor.num_rows())
      << tensor.name << " rows " << begin << " to " << end << " of " << tensor.num_rows();
  read_elements(tensor, begin * tensor.row_size(), end * tensor.row_size(), output);
}

void Checkpoint::read_elements(const TensorInfo& tensor, std::int64_t begin, std::int64_t end, float* output) {
  const TensorTypeTraits& traits = traits_of(tensor.type);
  TRIREME_CHECK(0 <= begin && begin <= end && begin % traits.block_size == 0 && end % traits.block_size == 0)
      << tensor.name << " elements " << begin << " to " << end;
  const std::int64_t first_byte = begin / traits.block_size * traits.block_bytes;
  traits.widen(tensor.data + first_byte, end - begin, output);
}

std::uint64_t Checkpoint::fingerprint() const {
  return compute_fingerprint(headers_, tensors_);
}

std::uint64_t Checkpoint::fingerprint_after(std::uint64_t before) const {
  constexpr std::uint64_t kOddFactor = 0x9E3779B97F4A7C15;
  return before * kOddFactor + fingerprint();
}

}  // namespace trireme::checkpoint
