#include "runtime/checkpoint/safetensors_header.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/tensor_type.h"

namespace trireme::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little, "model files are little-endian");

constexpr std::size_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;
constexpr std::size_t kMaxDimensions = 8;

// One entry of the header, as written.
struct Entry {
  std::string name, dtype;
  std::vector<std::int64_t> shape, data_offsets;
};

// Collects entries from parse events, without a document in between, and accepts nothing but the header's own form:
// {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, …, "__metadata__": {"key": "value", …}}
class EntryCollector : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return unexpected(); }
  bool boolean(bool) override { return unexpected(); }
  bool number_float(number_float_t, const string_t&) override { return unexpected(); }
  bool binary(binary_t&) override { return unexpected(); }
  bool number_integer(number_integer_t) override { return list_ != nullptr ? fail("negative number") : unexpected(); }

  bool number_unsigned(number_unsigned_t value) override {
    if (list_ == nullptr) return unexpected();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return fail("number too large");
    if (list_->size() == kMaxDimensions) return fail("more than 8 dimensions or offsets");
    list_->push_back(static_cast<std::int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ != 2 || list_ != nullptr) return unexpected();
    if (in_metadata_) return true;
    if (field_ != "dtype") return unexpected();
    entries_.back().dtype = std::move(value);
    return true;
  }

  bool key(string_t& value) override {
    if (depth_ == 2) return in_metadata_ || start_field(value);
    in_metadata_ = value == "__metadata__";
    fields_seen_ = 0;
    if (!in_metadata_) {
      entries_.push_back({std::move(value), {}, {}, {}});
    } else if (std::exchange(metadata_seen_, true)) {
      return fail("duplicate key");
    }
    return true;
  }

  bool start_object(std::size_t) override { return depth_ < 2 && list_ == nullptr ? (++depth_, true) : unexpected(); }

  bool end_object() override {
    if (--depth_ == 1 && !in_metadata_ && fields_seen_ != 7) return fail("needs dtype, shape and data_offsets");
    return true;
  }

  bool start_array(std::size_t) override {
    if (depth_ != 2 || in_metadata_ || list_ != nullptr || field_ == "dtype") return unexpected();
    list_ = field_ == "shape" ? &entries_.back().shape : &entries_.back().data_offsets;
    return true;
  }

  bool end_array() override {
    list_ = nullptr;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    error_ = "header is not valid JSON at byte " + std::to_string(position);
    return false;
  }

  std::vector<Entry>& entries() { return entries_; }
  const std::string& error() const { return error_; }

 private:
  bool fail(const std::string& reason) {
    if (in_metadata_) {
      error_ = "header, key '__metadata__': " + reason;
    } else {
      error_ = "tensor " + in_quotes(entries_.back().name) + ": " + reason;
    }
    return false;
  }
  bool unexpected() { return fail("unexpected JSON value"); }

  bool start_field(const std::string& name) {
    const unsigned bit = name == "dtype" ? 1 : name == "shape" ? 2 : name == "data_offsets" ? 4 : 0;
    if (bit == 0) return fail("unknown key " + in_quotes(name));
    if ((fields_seen_ & bit) != 0) return fail("duplicate key " + in_quotes(name));
    fields_seen_ |= bit;
    field_ = name;
    return true;
  }

  std::vector<Entry> entries_;
  int depth_ = 0;  // of objects
  bool in_metadata_ = false;
  bool metadata_seen_ = false;
  unsigned fields_seen_ = 0;  // of the current entry: dtype 1, shape 2, data_offsets 4
  std::string field_;
  std::vector<std::int64_t>* list_ = nullptr;  // the list that is being read
  std::string error_;
};

base::Result<TensorInfo> check_entry(Entry& entry, std::span<const std::byte> data, const std::string& file) {
  const auto error = [&](const std::string& reason) {
    return base::invalid_argument(file + ": tensor " + in_quotes(entry.name) + ": " + reason);
  };
  const TensorTypeTraits* known = find_safetensors_dtype(entry.dtype);
  const auto other_bytes = other_safetensors_element_bytes(entry.dtype);
  if (known == nullptr && !other_bytes) {
    return base::unsupported(error("unsupported dtype " + in_quotes(entry.dtype)).message);
  }
  const TensorTypeTraits traits =
      known != nullptr ? *known : TensorTypeTraits{TensorType::kOther, entry.dtype, 0, 1, *other_bytes, nullptr};
  const auto bytes = tensor_bytes(traits, entry.shape);
  if (!bytes) return error("shape is too large");
  if (entry.data_offsets.size() != 2) return error("data_offsets must be two numbers");
  const auto begin = static_cast<std::size_t>(entry.data_offsets[0]);
  const auto end = static_cast<std::size_t>(entry.data_offsets[1]);
  if (begin > end) return error("data_offsets are reversed");
  if (end > data.size()) return error("data ends past the end of the file");
  if (end - begin != *bytes) {
    return error("data_offsets span " + std::to_string(end - begin) + " bytes, shape and dtype " +
                 in_quotes(entry.dtype) + " need " + std::to_string(*bytes));
  }
  return TensorInfo{
      std::move(entry.name), traits.type, std::move(entry.shape), data.data() + begin, *bytes, file, entry.dtype};
}

// Each byte of the data belongs to one tensor.
base::Status check_coverage(std::span<const TensorInfo> tensors, std::span<const std::byte> data,
                            const std::string& file) {
  std::vector<const TensorInfo*> by_offset;
  for (const TensorInfo& tensor : tensors) by_offset.push_back(&tensor);
  std::ranges::sort(by_offset, {}, [](const TensorInfo* tensor) { return std::pair(tensor->data, tensor->bytes); });
  const std::byte* covered = data.data();
  for (const TensorInfo* tensor : by_offset) {
    if (tensor->data != covered) {
      const char* reason = tensor->data < covered ? ": data overlaps another tensor's" : ": gap before the data";
      return base::invalid_argument(file + ": tensor " + in_quotes(tensor->name) + reason);
    }
    covered += tensor->bytes;
  }
  if (covered == data.data() + data.size()) return base::ok_status();
  return base::invalid_argument(file + ": bytes after the last tensor's data");
}

}  // namespace

base::Result<SafetensorsHeader> parse_safetensors(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.size() < kLengthBytes) return base::invalid_argument(file + ": too short for a safetensors file");
  std::uint64_t json_bytes;
  std::memcpy(&json_bytes, bytes.data(), sizeof json_bytes);
  if (json_bytes > kMaxHeaderBytes) return base::invalid_argument(file + ": header length is above 100 MB");
  if (json_bytes > bytes.size() - kLengthBytes) return base::invalid_argument(file + ": header ends past the file");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, json_bytes);
  const auto data = bytes.subspan(kLengthBytes + json_bytes);
  // The JSON library skips a byte order mark and takes a NUL byte for the end.
  if (!text.starts_with('{')) return base::invalid_argument(file + ": header is not a JSON object");
  if (text.find('\0') != std::string_view::npos) return base::invalid_argument(file + ": NUL byte in the header");

  EntryCollector collector;
  if (!nlohmann::json::sax_parse(text, &collector)) return base::invalid_argument(file + ": " + collector.error());
  SafetensorsHeader header;
  header.header_bytes = kLengthBytes + json_bytes;
  for (Entry& entry : collector.entries()) {
    auto tensor = check_entry(entry, data, file);
    if (!tensor) return tensor.error();
    header.tensors.push_back(std::move(*tensor));
  }
  std::ranges::sort(header.tensors, {}, &TensorInfo::name);
  const auto duplicate = std::ranges::adjacent_find(header.tensors, {}, &TensorInfo::name);
  if (duplicate != header.tensors.end()) {
    return base::invalid_argument(file + ": tensor " + in_quotes(duplicate->name) + ": name appears twice");
  }
  if (const auto status = check_coverage(header.tensors, data, file); !status) return status.error();
  return header;
}

}  // namespace trireme::checkpoint
