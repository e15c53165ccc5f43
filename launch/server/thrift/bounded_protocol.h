// BoundedProtocol: Thrift's compact protocol on a message in memory, whose claims of length are held against what the
// message can hold. The library's own check multiplies in 32 bits and wraps, and a list of structures takes a hundred
// times the memory that it has in the message: the reader allocates all elements before it has seen one.
#pragma once

#include <thrift/TConfiguration.h>
#include <thrift/protocol/TCompactProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <cstdint>
#include <memory>
#include <string>

namespace trireme::thrift {

namespace protocol = apache::thrift::protocol;
using apache::thrift::transport::TMemoryBuffer;

class BoundedProtocol final : public protocol::TCompactProtocolT<TMemoryBuffer> {
 public:
  static constexpr std::uint32_t kMaxObjects = 8192;  // texts, structures or containers in one list, pairs in one map
  static constexpr std::uint32_t kMaxNumbers = 1 << 18;  // in one list: the longest contexts

  // `message` outlives this.
  static std::shared_ptr<BoundedProtocol> reading(const std::string& message) {
    const auto size = static_cast<std::uint32_t>(message.size());
    const auto config = std::make_shared<apache::thrift::TConfiguration>(static_cast<int>(size));
    // Only read, though its type does not say so.
    auto* bytes = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(message.data()));
    return std::make_shared<BoundedProtocol>(
        std::make_shared<TMemoryBuffer>(bytes, size, TMemoryBuffer::OBSERVE, config), static_cast<std::int32_t>(size));
  }

  BoundedProtocol(std::shared_ptr<TMemoryBuffer> buffer, std::int32_t message_bytes)
      : TCompactProtocolT(buffer, message_bytes, message_bytes), buffer_(std::move(buffer)) {}

  std::uint32_t readListBegin_virt(protocol::TType& type, std::uint32_t& size) override {
    const std::uint32_t num_read = readListBegin(type, size);
    const bool is_number = type == protocol::T_BOOL || type == protocol::T_BYTE || type == protocol::T_I16 ||
                           type == protocol::T_I32 || type == protocol::T_I64 || type == protocol::T_DOUBLE;
    check(size, is_number ? kMaxNumbers : kMaxObjects);
    return num_read;
  }
  std::uint32_t readSetBegin_virt(protocol::TType& type, std::uint32_t& size) override {
    return readListBegin_virt(type, size);
  }
  std::uint32_t readMapBegin_virt(protocol::TType& key, protocol::TType& value, std::uint32_t& size) override {
    const std::uint32_t num_read = readMapBegin(key, value, size);
    check(size, kMaxObjects);
    return num_read;
  }

 private:
  // Every element takes at least a byte.
  void check(std::uint32_t size, std::uint32_t limit) const {
    if (size > buffer_->available_read() || size > limit) {
      throw protocol::TProtocolException(protocol::TProtocolException::SIZE_LIMIT);
    }
  }

  const std::shared_ptr<TMemoryBuffer> buffer_;
};

}  // namespace trireme::thrift
