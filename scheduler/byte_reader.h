// ByteReader: takes scalars and length-prefixed arrays from a message that may be damaged. The first read past the end
// or of a malformed value fails the reader; from then on it yields zeros and empty arrays, so that callers check once
// at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace trireme::scheduler {

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    if (require(sizeof(T))) take_bytes(&value, sizeof(T));
    return value;
  }

  bool get_bool() {
    const auto value = get<std::uint8_t>();
    if (value > 1) fail();
    return value == 1;
  }

  // The length of an array whose elements take at least min_element_bytes each: never more than the rest can hold, so
  // that memory reserved for it stays in proportion to the message.
  std::size_t get_count(std::size_t min_element_bytes) {
    const std::size_t count = get<std::uint32_t>();
    if (count > rest_.size() / min_element_bytes) fail();
    return ok_ ? count : 0;
  }

  template <typename T>
  std::vector<T> get_vector() {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<T> values(get_count(sizeof(T)));
    if (!values.empty()) take_bytes(values.data(), values.size() * sizeof(T));
    return values;
  }

  void fail() {
    ok_ = false;
    rest_ = {};
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  bool require(std::size_t size) {
    if (size > rest_.size()) fail();
    return ok_;
  }
  void take_bytes(void* out, std::size_t size) {
    std::memcpy(out, rest_.data(), size);
    rest_ = rest_.subspan(size);
  }
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace trireme::scheduler
