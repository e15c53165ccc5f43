// ByteWriter: appends scalars and length-prefixed arrays to a message, little-endian.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace trireme::scheduler {

static_assert(std::endian::native == std::endian::little, "messages are written as they lie in memory");

class ByteWriter {
 public:
  // T: a scalar or a struct without padding.
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&value, sizeof(T));
  }

  void put_bool(bool value) { put<std::uint8_t>(value ? 1 : 0); }
  void put_count(std::size_t count) { put(static_cast<std::uint32_t>(count)); }

  template <typename T>
  void put_vector(const std::vector<T>& values) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_count(values.size());
    put_bytes(values.data(), values.size() * sizeof(T));
  }

  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void put_bytes(const void* data, std::size_t size) {
    if (size == 0) return;
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + size);
    std::memcpy(bytes_.data() + begin, data, size);
  }
  std::vector<std::byte> bytes_;
};

}  // namespace trireme::scheduler
