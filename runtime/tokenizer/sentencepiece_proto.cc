#include "runtime/tokenizer/sentencepiece_proto.h"

#include <cstdint>
#include <optional>

#include "runtime/tokenizer/precompiled_charsmap.h"

namespace trireme::tokenizer {
namespace {

// Numbers of fields in sentencepiece_model.proto.
constexpr std::uint64_t kNormalizerSpec = 3, kDenormalizerSpec = 5;  // of ModelProto
constexpr std::uint64_t kPrecompiledCharsmap = 2;                    // of NormalizerSpec
// Wire types of Protocol Buffers; those of groups do not occur.
constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

// Reads the fields of one message.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    std::uint64_t number = 0;
    std::string_view bytes;  // of a field of that wire type
  };
  // Nothing at the end, or where the message is damaged.
  std::optional<Field> next() {
    if (bytes_.empty()) return std::nullopt;
    const std::uint64_t key = varint();
    Field field{key >> 3, {}};
    switch (key & 7) {
      case kVarint: varint(); break;
      case kFixed64: take(8); break;
      case kFixed32: take(4); break;
      case kBytes: field.bytes = take(varint()); break;
      default: damaged_ = true;
    }
    return damaged_ ? std::nullopt : std::optional(field);
  }
  bool damaged() const { return damaged_; }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const std::string_view byte = take(1);
      if (damaged_) return 0;
      value |= std::uint64_t{static_cast<unsigned char>(byte[0]) & 0x7Fu} << shift;
      if ((static_cast<unsigned char>(byte[0]) & 0x80) == 0) return value;
    }
    damaged_ = true;
    return 0;
  }

  std::string_view take(std::uint64_t count) {
    if (damaged_ || count > bytes_.size()) {
      damaged_ = true;
      return {};
    }
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
  bool damaged_ = false;
};

base::Status check_normalizer(std::string_view spec) {
  WireReader reader(spec);
  while (const auto field = reader.next()) {
    if (field->number != kPrecompiledCharsmap || field->bytes.empty()) continue;
    const auto charsmap = PrecompiledCharsmap::parse(field->bytes);
    if (!charsmap) return charsmap.error();
    if (!charsmap->is_sound()) return base::invalid_argument("precompiled_charsmap leads out of itself");
  }
  if (reader.damaged()) return base::invalid_argument("is not a SentencePiece model");
  return base::ok_status();
}

}  // namespace

base::Status check_sentencepiece_charsmaps(std::string_view serialized) {
  WireReader reader(serialized);
  while (const auto field = reader.next()) {
    if (field->number != kNormalizerSpec && field->number != kDenormalizerSpec) continue;
    const base::Status status = check_normalizer(field->bytes);
    if (!status) return status;
  }
  if (reader.damaged() || serialized.empty()) return base::invalid_argument("is not a SentencePiece model");
  return base::ok_status();
}

}  // namespace trireme::tokenizer
