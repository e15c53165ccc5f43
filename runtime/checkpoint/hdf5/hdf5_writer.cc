#include "runtime/checkpoint/hdf5/hdf5_writer.h"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <utility>

#include "runtime/checkpoint/hdf5/checksum.h"
#include "runtime/checkpoint/hdf5/file_index.h"
#include "runtime/checkpoint/hdf5/handle.h"
#include "runtime/checkpoint/hdf5/hdf5_error.h"
#include "runtime/checkpoint/hdf5/pending_file.h"
#include "runtime/checkpoint/hdf5/user_block.h"
#include "runtime/checkpoint/mapped_file.h"

namespace trireme::checkpoint {
namespace {

constexpr hsize_t kPageBytes = 4096;
constexpr std::size_t kMaxAttributeBytes = 32 << 10;  // below the 64 KiB of an object header

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, value);
  return text.data();
}

std::string join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : "\n") + text;
  return joined;
}

}  // namespace

struct Hdf5Writer::Impl {
  PendingFile pending;  // outlives the handles below
  FileHandle file;
  PropertiesHandle dataset_properties, link_properties;
  FileIndex index;

  explicit Impl(const std::filesystem::path& target) : pending(target) {}

  template <typename Id>
  Id check(Id result, const char* call) const {
    if (result < 0) throw Hdf5Error(pending.path().string(), call, hdf5_reason());
    return result;
  }

  void create() {
    // At the program's exit libhdf5 would touch what it freed when closing a file failed. It refuses this but for the
    // first time, which does not matter.
    H5dont_atexit();
    check(H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr), "H5Eset_auto");  // errors are reported by exceptions
    const PropertiesHandle creation(check(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate"));
    check(H5Pset_userblock(creation.get(), kUserBlockBytes), "H5Pset_userblock");
    const PropertiesHandle access(check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
    check(H5Pset_alignment(access.get(), kPageBytes, kPageBytes), "H5Pset_alignment");
    file =
        FileHandle(check(H5Fcreate(pending.path().c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), "H5Fcreate"));
    dataset_properties = PropertiesHandle(check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
    check(H5Pset_layout(dataset_properties.get(), H5D_CONTIGUOUS), "H5Pset_layout");
    check(H5Pset_alloc_time(dataset_properties.get(), H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time");
    check(H5Pset_fill_time(dataset_properties.get(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
    check(H5Pset_obj_track_times(dataset_properties.get(), false), "H5Pset_obj_track_times");
    link_properties = PropertiesHandle(check(H5Pcreate(H5P_LINK_CREATE), "H5Pcreate"));
    check(H5Pset_create_intermediate_group(link_properties.get(), 1), "H5Pset_create_intermediate_group");
  }

  DatasetHandle write_dataset(const std::string& path, std::span<const std::byte> bytes, Extent& extent) const {
    const hsize_t size = bytes.size();
    const SpaceHandle space(check(H5Screate_simple(1, &size, nullptr), "H5Screate_simple"));
    DatasetHandle dataset(check(H5Dcreate2(file.get(), path.c_str(), H5T_STD_U8LE, space.get(), link_properties.get(),
                                           dataset_properties.get(), H5P_DEFAULT),
                                "H5Dcreate"));
    check(H5Dwrite(dataset.get(), H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), "H5Dwrite");
    const haddr_t offset = H5Dget_offset(dataset.get());
    if (offset == HADDR_UNDEF) throw Hdf5Error(pending.path().string(), "H5Dget_offset", hdf5_reason());
    extent = {offset, bytes.size(), checksum_of(bytes)};
    write_attribute(dataset.get(), "checksum", "xxh3-64 of 4 MiB chunks: " + hexadecimal(extent.checksum));
    return dataset;
  }

  void write_attribute(hid_t object, const char* name, std::string text) const {
    if (text.size() > kMaxAttributeBytes) text.resize(kMaxAttributeBytes);
    const TypeHandle type(check(H5Tcopy(H5T_C_S1), "H5Tcopy"));
    check(H5Tset_size(type.get(), text.size() + 1), "H5Tset_size");
    check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "H5Tset_cset");
    const SpaceHandle space(check(H5Screate(H5S_SCALAR), "H5Screate"));
    const AttributeHandle attribute(
        check(H5Acreate2(object, name, type.get(), space.get(), H5P_DEFAULT, H5P_DEFAULT), "H5Acreate"));
    check(H5Awrite(attribute.get(), type.get(), text.c_str()), "H5Awrite");
  }
  void write_attribute(hid_t object, const char* name, std::span<const std::int64_t> values) const {
    const hsize_t size = values.size();
    const SpaceHandle space(check(H5Screate_simple(1, &size, nullptr), "H5Screate_simple"));
    const AttributeHandle attribute(
        check(H5Acreate2(object, name, H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT), "H5Acreate"));
    check(H5Awrite(attribute.get(), H5T_NATIVE_INT64, values.data()), "H5Awrite");
  }

  void write_provenance() const {
    const Provenance& from = index.provenance;
    const hid_t root = file.get();
    write_attribute(root, "program", "trireme " + from.program_version);
    write_attribute(root, "command_line", from.command_line);
    write_attribute(root, "weights", from.weights);
    write_attribute(root, "source", from.source);
    write_attribute(root, "source_hash", "xxh3-64: " + hexadecimal(from.source_hash));
  }

  void verify(std::span<const std::byte> bytes, const Extent& extent, const std::string& name) const {
    if (extent.bytes == 0 || checksum_of(bytes.subspan(extent.offset, extent.bytes)) == extent.checksum) return;
    throw Hdf5Error(pending.path().string(), "reading back", name + " is not as it was written");
  }

  UserBlock verify_all(const Extent& index_extent) const {
    const auto written = MappedFile::open(pending.path());
    if (!written) throw Hdf5Error(pending.path().string(), "reading back", written.error().message);
    const auto structure = structure_checksum(written->bytes(), index, index_extent);
    if (!structure) throw Hdf5Error(pending.path().string(), "reading back", structure.error().message);
    for (const auto& each : index.matrices) verify(written->bytes(), each.extent, each.name);
    for (const auto& each : index.tensors) verify(written->bytes(), each.extent, each.name);
    for (const auto& each : index.files) verify(written->bytes(), each.extent, each.name);
    verify(written->bytes(), index_extent, "index");
    return {written->bytes().size(), index_extent.offset, index_extent.bytes, index_extent.checksum, *structure};
  }
};

Hdf5Writer::Hdf5Writer(const std::filesystem::path& target, const Provenance& provenance, Format source_format)
    : impl_(std::make_unique<Impl>(target)) {
  impl_->index.provenance = provenance;
  impl_->index.source_format = source_format;
  impl_->create();
  impl_->write_provenance();
}
Hdf5Writer::~Hdf5Writer() = default;

void Hdf5Writer::add_matrix(const PackedMatrix& matrix) {
  IndexedMatrix indexed{matrix.name, matrix.shape, matrix.tensors, {}};
  DatasetHandle dataset = impl_->write_dataset("/" + matrix.name, matrix.data, indexed.extent);
  impl_->write_attribute(dataset.get(), "format", std::string(to_string(matrix.shape.format)));
  impl_->write_attribute(dataset.get(), "out_features", std::array{matrix.shape.out_features});
  impl_->write_attribute(dataset.get(), "in_features", std::array{matrix.shape.in_features});
  impl_->write_attribute(dataset.get(), "tensors", join(matrix.tensors));
  impl_->check(dataset.close(), "H5Dclose");
  impl_->index.matrices.push_back(std::move(indexed));
}

void Hdf5Writer::add_tensor(const std::string& group, const TensorInfo& tensor) {
  IndexedTensor indexed{tensor.name, std::string(to_string(tensor.type)), tensor.shape, {}};
  DatasetHandle dataset =
      impl_->write_dataset("/" + group + "/" + tensor.name, {tensor.data, tensor.bytes}, indexed.extent);
  impl_->write_attribute(dataset.get(), "type", indexed.type_name);
  impl_->write_attribute(dataset.get(), "shape", tensor.shape);
  impl_->check(dataset.close(), "H5Dclose");
  impl_->index.tensors.push_back(std::move(indexed));
}

void Hdf5Writer::mention_tensor(const TensorInfo& tensor) {
  impl_->index.tensors.push_back({tensor.name, tensor.type_name, tensor.shape, {}});
}

void Hdf5Writer::add_file(const std::string& name, std::span<const std::byte> bytes) {
  IndexedFile indexed{name, {}};
  if (!bytes.empty()) {
    DatasetHandle dataset = impl_->write_dataset("/source/" + name, bytes, indexed.extent);
    impl_->check(dataset.close(), "H5Dclose");
  }
  impl_->index.files.push_back(std::move(indexed));
}

void Hdf5Writer::finish() {
  const std::string text = to_json(impl_->index);
  Extent extent;
  DatasetHandle dataset = impl_->write_dataset("/index", std::as_bytes(std::span(text)), extent);
  impl_->check(dataset.close(), "H5Dclose");
  impl_->check(H5Fflush(impl_->file.get(), H5F_SCOPE_GLOBAL), "H5Fflush");
  impl_->check(impl_->file.close(), "H5Fclose");
  impl_->pending.sync();
  impl_->pending.overwrite(encode(impl_->verify_all(extent)));
  impl_->pending.commit();
}

}  // namespace trireme::checkpoint
