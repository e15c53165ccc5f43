#include "runtime/checkpoint/gguf_header.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/checkpoint/byte_reader.h"
#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/tensor_type.h"

namespace trireme::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

constexpr std::uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr std::uint32_t kVersion = 3;
constexpr std::uint64_t kMinPairBytes = 8 + 4 + 1;        // length of the key, type, shortest value
constexpr std::uint64_t kMinTensorBytes = 8 + 4 + 4 + 8;  // length of the name, number of dimensions, type, offset
constexpr std::size_t kMaxNameBytes = 65535;
constexpr std::uint32_t kMaxDimensions = 4;
constexpr char kAlignmentKey[] = "general.alignment";
constexpr std::uint32_t kDefaultAlignment = 32;
constexpr std::uint32_t kMinAlignment = 8;
constexpr std::uint32_t kMaxAlignment = 1 << 16;
constexpr std::uint64_t kMaxJsonArray = 1024;

// Reads one file from front to back into `header_`.
class Parser {
 public:
  Parser(std::span<const std::byte> bytes, const std::string& file) : bytes_(bytes), file_(file), reader_(bytes) {}

  base::Result<GgufHeader> parse() {
    return run({&Parser::read_preamble, &Parser::read_pairs, &Parser::read_tensors, &Parser::locate_data,
                &Parser::check_overlap});
  }
  base::Result<GgufHeader> parse_header_alone() {
    header_.header_bytes = bytes_.size();
    return run({&Parser::read_preamble, &Parser::read_pairs, &Parser::read_tensors});
  }

 private:
  using Step = base::Status (Parser::*)();
  base::Result<GgufHeader> run(std::initializer_list<Step> steps) {
    for (const Step step : steps) {
      if (const auto status = (this->*step)(); !status) return status.error();
    }
    return std::move(header_);
  }
  base::Status read_preamble();
  base::Status read_pairs();
  base::Status read_pair(const std::string& key);
  base::Status read_alignment(GgufValueType type);
  base::Status read_tensors();
  base::Status read_tensor(TensorInfo& tensor);
  base::Status locate_data();
  base::Status check_overlap();

  base::Error file_error(const std::string& reason) const { return base::invalid_argument(file_ + ": " + reason); }
  base::Error key_error(std::string_view key, const std::string& reason) const {
    return file_error("key " + in_quotes(key) + ": " + reason);
  }
  base::Error tensor_error(std::string_view name, const std::string& reason) const {
    return file_error("tensor " + in_quotes(name) + ": " + reason);
  }

  const std::span<const std::byte> bytes_;
  const std::string& file_;
  ByteReader reader_;
  std::uint64_t num_tensors_ = 0;
  std::uint64_t num_pairs_ = 0;
  std::uint32_t alignment_ = kDefaultAlignment;
  std::vector<std::uint64_t> offsets_;  // of the tensors, within the data
  GgufHeader header_;
};

base::Status Parser::read_preamble() {
  const auto magic = reader_.read<std::uint32_t>();
  const auto version = reader_.read<std::uint32_t>();
  if (magic != kMagic) return file_error("not a GGUF file");
  if (version == __builtin_bswap32(kVersion)) return file_error("big-endian GGUF is not supported");
  if (reader_.ok() && version != kVersion) return file_error("GGUF version " + std::to_string(version) + ", not 3");
  num_tensors_ = reader_.read<std::uint64_t>();
  num_pairs_ = reader_.read<std::uint64_t>();
  if (!reader_.ok()) return file_error("ends within the header");
  if (num_tensors_ > reader_.remaining() / kMinTensorBytes) return file_error("more tensors than the file can hold");
  if (num_pairs_ > reader_.remaining() / kMinPairBytes) return file_error("more keys than the file can hold");
  return base::ok_status();
}

base::Status Parser::read_pairs() {
  for (std::uint64_t i = 0; i < num_pairs_; ++i) {
    const std::string_view key = reader_.read_string();
    if (!reader_.ok()) return file_error("key number " + std::to_string(i) + " ends past the end of the file");
    if (key.size() > kMaxNameBytes) return key_error(key, "longer than 65535 bytes");
    if (!is_valid_utf8(key)) return key_error(key, "not UTF-8");
    if (const auto status = read_pair(std::string(key)); !status) return status.error();
  }
  return base::ok_status();
}

base::Status Parser::read_pair(const std::string& key) {
  nlohmann::json& metadata = *header_.metadata;
  if (metadata.contains(key) || header_.arrays.contains(key)) return key_error(key, "appears twice");
  const auto type = static_cast<GgufValueType>(reader_.read<std::uint32_t>());
  if (key == kAlignmentKey) return read_alignment(type);
  if (type != GgufValueType::kArray) {
    auto value = read_gguf_scalar(reader_, type);
    if (!value) return key_error(key, value.error().message);
    metadata[key] = std::move(*value);
    return base::ok_status();
  }
  const auto array = read_gguf_array(reader_);
  if (!array) return key_error(key, array.error().message);
  header_.arrays.emplace(key, *array);
  if (array->count > kMaxJsonArray) return base::ok_status();
  // Some vocabularies hold bytes that are not UTF-8: such an array is no JSON.
  if (const auto strings = to_strings(*array); strings && !std::ranges::all_of(*strings, is_valid_utf8)) {
    return base::ok_status();
  }
  ByteReader elements(array->bytes);
  auto values = nlohmann::json::array();
  for (std::uint64_t i = 0; i < array->count; ++i) {
    auto value = read_gguf_scalar(elements, array->element_type);
    if (!value) return key_error(key, value.error().message);
    values.push_back(std::move(*value));
  }
  metadata[key] = std::move(values);
  return base::ok_status();
}

base::Status Parser::read_alignment(GgufValueType type) {
  if (type != GgufValueType::kUInt32) return key_error(kAlignmentKey, "must be of type UINT32");
  alignment_ = reader_.read<std::uint32_t>();
  if (!std::has_single_bit(alignment_) || alignment_ < kMinAlignment || alignment_ > kMaxAlignment) {
    return key_error(kAlignmentKey, "must be a power of two from 8 to 65536, not " + std::to_string(alignment_));
  }
  (*header_.metadata)[kAlignmentKey] = alignment_;
  return base::ok_status();
}

base::Status Parser::read_tensors() {
  std::unordered_set<std::string_view> names;
  for (std::uint64_t i = 0; i < num_tensors_; ++i) {
    const std::string_view name = reader_.read_string();
    if (!reader_.ok()) return file_error("tensor number " + std::to_string(i) + " ends past the end of the file");
    if (name.size() > kMaxNameBytes) return tensor_error(name, "name is longer than 65535 bytes");
    if (!is_valid_utf8(name)) return tensor_error(name, "name is not UTF-8");
    if (!names.insert(name).second) return tensor_error(name, "name appears twice");
    TensorInfo tensor;
    tensor.name = name;
    tensor.file = file_;
    if (const auto status = read_tensor(tensor); !status) return status.error();
    header_.tensors.push_back(std::move(tensor));
  }
  return base::ok_status();
}

base::Status Parser::read_tensor(TensorInfo& tensor) {
  const auto num_dimensions = reader_.read<std::uint32_t>();
  if (num_dimensions > kMaxDimensions) {
    return tensor_error(tensor.name, std::to_string(num_dimensions) + " dimensions, at most 4 are allowed");
  }
  for (std::uint32_t i = 0; i < num_dimensions; ++i) {
    const auto dimension = reader_.read<std::uint64_t>();
    if (!std::in_range<std::int64_t>(dimension)) return tensor_error(tensor.name, "shape is too large");
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(dimension));
  }
  const auto type = reader_.read<std::uint32_t>();
  offsets_.push_back(reader_.read<std::uint64_t>());
  if (!reader_.ok()) return tensor_error(tensor.name, "ends past the end of the file");
  tensor.type_name = ggml_type_name(type);
  if (is_other_ggml_type(type)) {
    tensor.type = TensorType::kOther;  // its bytes are not known
    const bool fits = tensor_bytes({TensorType::kOther, "", 0, 1, 1, nullptr}, tensor.shape).has_value();
    return fits ? base::ok_status() : base::Status(tensor_error(tensor.name, "shape is too large"));
  }
  const TensorTypeTraits* traits = find_ggml_type(type);
  if (traits == nullptr) {
    return base::unsupported(tensor_error(tensor.name, "unsupported type " + ggml_type_name(type)).message);
  }
  if (tensor.row_size() % traits->block_size != 0) {
    return tensor_error(tensor.name, "row of " + std::to_string(tensor.row_size()) + " elements is not a multiple of " +
                                         std::string(traits->name) + "'s block of " +
                                         std::to_string(traits->block_size));
  }
  const auto bytes = tensor_bytes(*traits, tensor.shape);
  if (!bytes) return tensor_error(tensor.name, "shape is too large");
  tensor.type = traits->type;
  tensor.bytes = *bytes;
  return base::ok_status();
}

base::Status Parser::locate_data() {
  const std::size_t padding = (alignment_ - reader_.position() % alignment_) % alignment_;
  const std::size_t data_begin = std::min(reader_.position() + padding, bytes_.size());
  header_.header_bytes = data_begin;
  const auto data = bytes_.subspan(data_begin);
  for (std::size_t i = 0; i < header_.tensors.size(); ++i) {
    TensorInfo& tensor = header_.tensors[i];
    if (offsets_[i] % alignment_ != 0) return tensor_error(tensor.name, "offset is not aligned");
    if (offsets_[i] > data.size() || tensor.bytes > data.size() - offsets_[i]) {
      return tensor_error(tensor.name, "data ends past the end of the file");
    }
    tensor.data = data.data() + offsets_[i];
  }
  return base::ok_status();
}

base::Status Parser::check_overlap() {
  std::vector<const TensorInfo*> by_offset;
  for (const TensorInfo& tensor : header_.tensors) {
    if (tensor.bytes > 0) by_offset.push_back(&tensor);
  }
  std::ranges::sort(by_offset, {}, &TensorInfo::data);
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    if (by_offset[i]->data < by_offset[i - 1]->data + by_offset[i - 1]->bytes) {
      return tensor_error(by_offset[i]->name, "data overlaps that of " + in_quotes(by_offset[i - 1]->name));
    }
  }
  return base::ok_status();
}

}  // namespace

GgufHeader::GgufHeader() : metadata(std::make_unique<nlohmann::json>(nlohmann::json::object())) {}
GgufHeader::GgufHeader(GgufHeader&&) noexcept = default;
GgufHeader& GgufHeader::operator=(GgufHeader&&) noexcept = default;
GgufHeader::~GgufHeader() = default;

base::Result<GgufHeader> parse_gguf(std::span<const std::byte> bytes, const std::string& file) {
  return Parser(bytes, file).parse();
}

base::Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes, const std::string& file) {
  return Parser(bytes, file).parse_header_alone();
}

}  // namespace trireme::checkpoint
