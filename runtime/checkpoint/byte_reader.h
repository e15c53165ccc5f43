// ByteReader: reads little-endian values from bytes that nobody has checked. A read past the end yields zeros and turns
// ok() false for good, so that a caller checks once after a group of reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace trireme::checkpoint {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T read() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    const auto source = read_bytes(sizeof(T));
    if (!source.empty()) std::memcpy(&value, source.data(), sizeof(T));
    return value;
  }

  // Nothing is allocated: the result points into the bytes.
  std::span<const std::byte> read_bytes(std::uint64_t count) {
    if (!ok_ || count > remaining()) {
      ok_ = false;
      return {};
    }
    const auto result = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += result.size();
    return result;
  }

  // GGUF's strings: a 64-bit length, then that many bytes.
  std::string_view read_string() {
    const auto text = read_bytes(read<std::uint64_t>());
    return {reinterpret_cast<const char*>(text.data()), text.size()};
  }

  bool ok() const { return ok_; }
  std::size_t position() const { return position_; }
  std::size_t remaining() const { return bytes_.size() - position_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace trireme::checkpoint
