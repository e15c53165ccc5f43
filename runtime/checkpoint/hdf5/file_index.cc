#include "runtime/checkpoint/hdf5/file_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/hdf5/checksum.h"
#include "runtime/checkpoint/hdf5/user_block.h"

namespace trireme::checkpoint {
namespace {

using nlohmann::json;

constexpr std::int64_t kMaxFeatures = std::int64_t{1} << 28;
constexpr kernels::WeightFormat kWeightFormats[] = {kernels::WeightFormat::kF32,  kernels::WeightFormat::kF16,
                                                    kernels::WeightFormat::kBF16, kernels::WeightFormat::kInt8,
                                                    kernels::WeightFormat::kQ8_0, kernels::WeightFormat::kQ4_0,
                                                    kernels::WeightFormat::kQ4_1};
constexpr char kGguf[] = "gguf", kHuggingFace[] = "hugging_face";

json extent_json(const Extent& extent) {
  return {{"offset", extent.offset}, {"bytes", extent.bytes}, {"checksum", extent.checksum}};
}

// Reads values of the index, and keeps the first error.
class Reader {
 public:
  Reader(std::string file, std::uint64_t file_bytes) : file_(std::move(file)), file_bytes_(file_bytes) {}

  const json& member(const json& object, const char* key) {
    static const json kNull;
    const auto found = object.is_object() ? object.find(key) : object.end();
    return object.is_object() && found != object.end() ? *found : kNull;
  }
  std::string text(const json& object, const char* key) {
    const json& value = member(object, key);
    if (value.is_string()) return value.get<std::string>();
    fail(std::string(key) + " is not a string");
    return "";
  }
  std::uint64_t number(const json& object, const char* key) { return whole_number(member(object, key), key); }
  std::uint64_t whole_number(const json& value, const std::string& what) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    fail(what + " is not a whole number");
    return 0;
  }
  const json& array(const json& object, const char* key) {
    static const json kEmpty = json::array();
    const json& value = member(object, key);
    if (value.is_array()) return value;
    fail(std::string(key) + " is not an array");
    return kEmpty;
  }
  // What is read from now on belongs to the tensor or file of that name.
  void enter(const std::string& kind, const std::string& name) {
    name_ = name;
    if (!names_.insert(kind + name).second) fail("appears twice");
  }
  Extent extent(const json& object) {
    const Extent extent{number(object, "offset"), number(object, "bytes"), number(object, "checksum")};
    if (extent.bytes == 0) return {};
    const bool inside =
        extent.offset >= kUserBlockBytes && extent.offset <= file_bytes_ && extent.bytes <= file_bytes_ - extent.offset;
    if (!inside) fail("lies outside of the file");
    return extent;
  }

  void fail(const std::string& reason) {
    if (!error_.empty()) return;
    error_ = file_ + ": " + (name_.empty() ? "index" : "tensor " + in_quotes(name_)) + ": " + reason;
  }
  const std::string& error() const { return error_; }

 private:
  std::string file_, name_, error_;
  std::uint64_t file_bytes_;
  std::set<std::string> names_;
};

kernels::WeightFormat format_of(Reader& reader, const std::string& name) {
  for (const kernels::WeightFormat format : kWeightFormats) {
    if (name == to_string(format)) return format;
  }
  reader.fail("unknown format " + in_quotes(name));
  return kernels::WeightFormat::kF32;
}

IndexedMatrix read_matrix(Reader& reader, const json& object) {
  IndexedMatrix matrix;
  matrix.name = reader.text(object, "name");
  reader.enter("matrix ", matrix.name);
  matrix.shape.format = format_of(reader, reader.text(object, "format"));
  for (auto [field, key] :
       {std::pair{&matrix.shape.out_features, "out_features"}, {&matrix.shape.in_features, "in_features"}}) {
    const std::uint64_t size = reader.number(object, key);
    if (size == 0 || size >= static_cast<std::uint64_t>(kMaxFeatures)) reader.fail(std::string(key) + " is impossible");
    *field = static_cast<std::int64_t>(std::min<std::uint64_t>(size, kMaxFeatures));
  }
  for (const json& tensor : reader.array(object, "tensors")) {
    if (tensor.is_string()) matrix.tensors.push_back(tensor.get<std::string>());
  }
  matrix.extent = reader.extent(object);
  // Both sizes are below 2^28, so that the product with 4 bytes an element stays within 64 bits.
  if (matrix.shape.bytes() != matrix.extent.bytes) reader.fail("has not the bytes of its shape and format");
  return matrix;
}

IndexedTensor read_tensor(Reader& reader, const json& object) {
  IndexedTensor tensor;
  tensor.name = reader.text(object, "name");
  reader.enter("tensor ", tensor.name);
  tensor.type_name = reader.text(object, "type");
  constexpr std::size_t kMaxDimensions = 8;
  const json& shape = reader.array(object, "shape");
  if (shape.size() > kMaxDimensions) reader.fail("has too many dimensions");
  for (const json& size : shape) {
    const std::uint64_t value = reader.whole_number(size, "shape");
    if (value >= std::uint64_t{1} << 48) reader.fail("shape is too large");
    tensor.shape.push_back(static_cast<std::int64_t>(value));
  }
  tensor.extent = reader.extent(object);
  return tensor;
}

Provenance read_provenance(Reader& reader, const json& object) {
  Provenance provenance;
  provenance.weights = reader.text(object, "weights");
  provenance.program_version = reader.text(object, "program_version");
  provenance.command_line = reader.text(object, "command_line");
  provenance.source = reader.text(object, "source");
  provenance.source_bytes = reader.number(object, "source_bytes");
  provenance.source_hash = reader.number(object, "source_hash");
  return provenance;
}

}  // namespace

std::string to_json(const FileIndex& index) {
  json matrices = json::array(), tensors = json::array(), files = json::array();
  for (const IndexedMatrix& matrix : index.matrices) {
    matrices.push_back({{"name", matrix.name},
                        {"format", to_string(matrix.shape.format)},
                        {"out_features", matrix.shape.out_features},
                        {"in_features", matrix.shape.in_features},
                        {"tensors", matrix.tensors}});
    matrices.back().update(extent_json(matrix.extent));
  }
  for (const IndexedTensor& tensor : index.tensors) {
    tensors.push_back({{"name", tensor.name}, {"type", tensor.type_name}, {"shape", tensor.shape}});
    tensors.back().update(extent_json(tensor.extent));
  }
  for (const IndexedFile& file : index.files) {
    files.push_back({{"name", file.name}});
    files.back().update(extent_json(file.extent));
  }
  const Provenance& from = index.provenance;
  const json object = {{"weights", from.weights},
                       {"program_version", from.program_version},
                       {"command_line", from.command_line},
                       {"source", from.source},
                       {"source_bytes", from.source_bytes},
                       {"source_hash", from.source_hash},
                       {"source_format", index.source_format == Format::kGguf ? kGguf : kHuggingFace},
                       {"matrices", matrices},
                       {"tensors", tensors},
                       {"files", files}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

base::Result<FileIndex> parse_index(std::string_view text, std::uint64_t file_bytes, const std::string& file) {
  const auto object = parse_bounded_json(text, file + ": index");
  if (!object) return object.error();
  Reader reader(file, file_bytes);
  FileIndex index;
  index.provenance = read_provenance(reader, *object);
  const std::string format = reader.text(*object, "source_format");
  if (format != kGguf && format != kHuggingFace) reader.fail("unknown source_format");
  index.source_format = format == kGguf ? Format::kGguf : Format::kHuggingFace;
  for (const json& each : reader.array(*object, "matrices")) index.matrices.push_back(read_matrix(reader, each));
  for (const json& each : reader.array(*object, "tensors")) index.tensors.push_back(read_tensor(reader, each));
  for (const json& each : reader.array(*object, "files")) {
    const std::string name = reader.text(each, "name");
    reader.enter("file ", name);
    index.files.push_back({name, reader.extent(each)});
  }
  if (!reader.error().empty()) return base::invalid_argument(reader.error());
  return index;
}

base::Result<std::uint64_t> structure_checksum(std::span<const std::byte> file, const FileIndex& index,
                                               const Extent& index_extent) {
  std::vector<std::pair<Extent, std::string>> extents = {{index_extent, "index"}};
  for (const auto& matrix : index.matrices) extents.emplace_back(matrix.extent, matrix.name);
  for (const auto& tensor : index.tensors) extents.emplace_back(tensor.extent, tensor.name);
  for (const auto& each : index.files) extents.emplace_back(each.extent, each.name);
  std::erase_if(extents, [](const auto& each) { return each.first.bytes == 0; });
  std::ranges::sort(extents, {}, [](const auto& each) { return each.first.offset; });
  std::vector<std::uint64_t> gaps;
  std::uint64_t end = kUserBlockBytes;
  for (const auto& [extent, name] : extents) {
    if (extent.offset < end || extent.offset > file.size() || extent.bytes > file.size() - extent.offset) {
      return base::invalid_argument("tensor " + in_quotes(name) +
                                    ": overlaps another, or ends past the end of the file");
    }
    gaps.push_back(checksum_of(file.subspan(end, extent.offset - end)));
    end = extent.offset + extent.bytes;
  }
  gaps.push_back(checksum_of(file.subspan(end)));
  return combine_checksums(gaps);
}

}  // namespace trireme::checkpoint
