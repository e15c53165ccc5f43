#include "runtime/checkpoint/gguf_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/checkpoint/gguf_header.h"
#include "runtime/checkpoint/mapped_file.h"

namespace trireme::checkpoint {

struct GgufFile::Impl {
  std::optional<MappedFile> file;    // nothing of a header alone
  std::span<const std::byte> bytes;  // of the file or the header
  GgufHeader header;
};

GgufFile::GgufFile() = default;
GgufFile::~GgufFile() = default;

base::Result<std::unique_ptr<GgufFile>> GgufFile::open(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto header = parse_gguf(file->bytes(), file->name());
  if (!header) return header.error();
  std::unique_ptr<GgufFile> result(new GgufFile);
  const auto bytes = file->bytes();
  result->impl_.reset(new Impl{std::move(*file), bytes, std::move(*header)});
  return result;
}

base::Result<std::unique_ptr<GgufFile>> GgufFile::from_header(std::span<const std::byte> bytes,
                                                              const std::string& name) {
  auto header = parse_gguf_header(bytes, name);
  if (!header) return header.error();
  std::unique_ptr<GgufFile> result(new GgufFile);
  result->impl_.reset(new Impl{std::nullopt, bytes, std::move(*header)});
  return result;
}

const nlohmann::json& GgufFile::metadata() const {
  return *impl_->header.metadata;
}

bool GgufFile::has(std::string_view key) const {
  return impl_->header.metadata->contains(key) || impl_->header.arrays.contains(key);
}

std::optional<std::vector<std::string_view>> GgufFile::string_array(std::string_view key) const {
  const auto array = impl_->header.arrays.find(key);
  return array == impl_->header.arrays.end() ? std::nullopt : to_strings(array->second);
}

std::optional<std::vector<float>> GgufFile::float_array(std::string_view key) const {
  const auto array = impl_->header.arrays.find(key);
  return array == impl_->header.arrays.end() ? std::nullopt : to_floats(array->second);
}

std::optional<std::vector<std::int32_t>> GgufFile::int_array(std::string_view key) const {
  const auto array = impl_->header.arrays.find(key);
  return array == impl_->header.arrays.end() ? std::nullopt : to_ints(array->second);
}

std::span<const TensorInfo> GgufFile::tensors() const {
  return impl_->header.tensors;
}

FileHeader GgufFile::file_header() const {
  return {impl_->bytes.first(impl_->header.header_bytes), impl_->bytes.size()};
}

}  // namespace trireme::checkpoint
