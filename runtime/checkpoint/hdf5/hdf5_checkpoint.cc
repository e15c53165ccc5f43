#include "runtime/checkpoint/hdf5/hdf5_checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/hdf5/checksum.h"
#include "runtime/checkpoint/hdf5/user_block.h"
#include "runtime/checkpoint/tensor_type.h"

namespace trireme::checkpoint {
namespace {

base::Status check_contents(std::span<const std::byte> bytes, const Extent& extent, const std::string& what) {
  if (checksum_of(bytes) == extent.checksum) return base::ok_status();
  return base::invalid_argument(what + ": damaged or altered (its checksum is wrong)");
}

// The first tensor, in the file's order, that a file cut to `size` does not hold whole; empty if it holds all.
std::string first_cut_off(const FileIndex& index, std::uint64_t size) {
  std::string name;
  std::uint64_t first = UINT64_MAX;
  const auto consider = [&](const Extent& extent, const std::string& each) {
    if (extent.offset + extent.bytes <= size || extent.offset >= first) return;
    first = extent.offset;
    name = each;
  };
  for (const auto& matrix : index.matrices) consider(matrix.extent, matrix.name);
  for (const auto& tensor : index.tensors) consider(tensor.extent, tensor.name);
  return name;
}

// The index, which the user block and its checksum vouch for.
base::Result<FileIndex> read_index(const MappedFile& file, const UserBlock& block) {
  const auto bytes = file.bytes();
  const bool inside = block.index_offset >= kUserBlockBytes && block.index_offset <= bytes.size() &&
                      block.index_bytes <= bytes.size() - block.index_offset;
  if (!inside) return base::invalid_argument(file.name() + ": ends before its index: the file is truncated");
  const auto text = bytes.subspan(block.index_offset, block.index_bytes);
  if (checksum_of(text) != block.index_checksum) {
    return base::invalid_argument(file.name() + ": index: damaged or altered (its checksum is wrong)");
  }
  auto index = parse_index({reinterpret_cast<const char*>(text.data()), text.size()}, block.file_bytes, file.name());
  if (!index || bytes.size() == block.file_bytes) return index;
  const std::string name = first_cut_off(*index, bytes.size());
  return base::invalid_argument(file.name() + ": has " + std::to_string(bytes.size()) + " bytes, not the " +
                                std::to_string(block.file_bytes) + " it was written with" +
                                (name.empty() ? "" : ": ends within tensor " + in_quotes(name)));
}

}  // namespace

Hdf5Checkpoint::Hdf5Checkpoint(MappedFile file) : file_(std::move(file)), side_files_(file_.name()) {
  path_ = file_.name();
  conversion_.file = file_.name();
}
Hdf5Checkpoint::~Hdf5Checkpoint() = default;

bool Hdf5Checkpoint::is_meant(const std::filesystem::path& path) {
  if (path.extension() == ".h5" || path.extension() == ".hdf5") return true;
  const auto file = MappedFile::open(path);
  return file && begins_like_hdf5(file->bytes());
}

base::Result<std::unique_ptr<Checkpoint>> Hdf5Checkpoint::open(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  std::unique_ptr<Hdf5Checkpoint> checkpoint(new Hdf5Checkpoint(std::move(*file)));
  if (const auto status = checkpoint->load(); !status) return status.error();
  return std::unique_ptr<Checkpoint>(std::move(checkpoint));
}

base::Status Hdf5Checkpoint::load() {
  const auto bytes = file_.bytes();
  const auto block = decode_user_block(bytes);
  if (!block) {
    return base::invalid_argument(file_.name() + (begins_like_hdf5(bytes)
                                                      ? ": an HDF5 file that 'trireme convert' did not write to its end"
                                                      : ": not an HDF5 file of 'trireme convert'"));
  }
  auto index = read_index(file_, *block);
  if (!index) return index.error();
  const auto structure =
      structure_checksum(bytes, *index, {block->index_offset, block->index_bytes, block->index_checksum});
  if (!structure) return base::invalid_argument(file_.name() + ": " + structure.error().message);
  if (*structure != block->structure_checksum) {
    return base::invalid_argument(file_.name() + ": its HDF5 structure is damaged or altered (its checksum is wrong)");
  }
  format_ = index->source_format;
  conversion_.provenance = index->provenance;
  for (IndexedMatrix& matrix : index->matrices) {
    conversion_.matrices.push_back({matrix.name, matrix.shape, std::move(matrix.tensors),
                                    bytes.subspan(matrix.extent.offset, matrix.extent.bytes), matrix.extent.checksum});
  }
  std::ranges::sort(conversion_.matrices, {}, &PackedMatrix::name);
  headers_ = {{bytes.subspan(0, kUserBlockBytes), bytes.size()},
              {bytes.subspan(block->index_offset, block->index_bytes), block->index_bytes}};
  if (auto status = add_tensors(*index); !status) return status;
  return add_source(*index);
}

base::Status Hdf5Checkpoint::add_tensors(const FileIndex& index) {
  for (const IndexedTensor& indexed : index.tensors) {
    TensorInfo tensor;
    tensor.name = indexed.name;
    tensor.type_name = indexed.type_name;
    tensor.shape = indexed.shape;
    tensor.file = file_.name();
    tensor.type = TensorType::kOther;  // cannot be read but as part of a packed matrix
    if (indexed.extent.bytes > 0) {
      const std::string what = file_.name() + ": tensor " + in_quotes(indexed.name);
      const TensorTypeTraits* traits = find_tensor_type(indexed.type_name);
      const auto size = traits != nullptr ? tensor_bytes(*traits, indexed.shape) : std::nullopt;
      if (size != indexed.extent.bytes)
        return base::invalid_argument(what + ": has not the bytes of its shape and type");
      const auto bytes = file_.bytes().subspan(indexed.extent.offset, indexed.extent.bytes);
      if (auto status = check_contents(bytes, indexed.extent, what); !status) return status;
      tensor.type = traits->type;
      tensor.data = bytes.data();
      tensor.bytes = bytes.size();
    }
    tensors_.push_back(std::move(tensor));
  }
  std::ranges::sort(tensors_, {}, &TensorInfo::name);
  return base::ok_status();
}

base::Status Hdf5Checkpoint::add_source(const FileIndex& index) {
  for (const IndexedFile& indexed : index.files) {
    const std::string what = file_.name() + ": " + in_quotes(indexed.name);
    const auto bytes = file_.bytes().subspan(indexed.extent.offset, indexed.extent.bytes);
    if (auto status = check_contents(bytes, indexed.extent, what); !status) return status;
    side_files_.add(indexed.name, bytes);
    if (indexed.name != kGgufHeaderName || format_ != Format::kGguf) continue;
    auto header = GgufFile::from_header(bytes, file_.name());
    if (!header) return header.error();
    gguf_ = std::move(*header);
  }
  if (format_ == Format::kGguf) {
    return gguf_ ? base::ok_status() : base::Status(base::invalid_argument(file_.name() + ": holds no header.gguf"));
  }
  const auto text = side_files_.read("config.json");
  if (!text) return base::invalid_argument(text.error().message);
  auto config = parse_bounded_json(*text, file_.name() + ": config.json");
  if (!config) return config.error();
  if (!config->is_object()) return base::invalid_argument(file_.name() + ": config.json: not a JSON object");
  config_ = std::make_unique<nlohmann::json>(std::move(*config));
  return base::ok_status();
}

const nlohmann::json& Hdf5Checkpoint::metadata() const {
  return gguf_ ? gguf_->metadata() : *config_;
}

}  // namespace trireme::checkpoint
