// ByteWriter: appends little-endian values, for files that tests make by hand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace trireme::test {

class ByteWriter {
 public:
  template <typename T>
  ByteWriter& number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const std::size_t end = bytes_.size();
    bytes_.resize(end + sizeof value);
    std::memcpy(bytes_.data() + end, &value, sizeof value);
    return *this;
  }
  ByteWriter& u32(std::uint32_t value) { return number(value); }
  ByteWriter& u64(std::uint64_t value) { return number(value); }

  ByteWriter& text(std::string_view text) { return append(std::as_bytes(std::span(text))); }
  // GGUF's strings: a 64-bit length, then the bytes.
  ByteWriter& string(std::string_view value) { return u64(value.size()).text(value); }
  ByteWriter& append(std::span<const std::byte> more) {
    bytes_.insert(bytes_.end(), more.begin(), more.end());
    return *this;
  }
  ByteWriter& pad_to(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    return *this;
  }

  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace trireme::test
