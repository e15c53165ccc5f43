// What a message may claim to hold.
#include "launch/server/thrift/bounded_protocol.h"

#include <gtest/gtest.h>
#include <trireme_types.h>

#include <functional>

namespace trireme::thrift {
namespace {

using protocol::TType;

std::string written(const std::function<void(protocol::TProtocol&)>& write) {
  const auto buffer = std::make_shared<TMemoryBuffer>();
  protocol::TCompactProtocol output(buffer);
  write(output);
  return buffer->getBufferAsString();
}

// As the compact protocol has it; the library writes no sizes from 2³¹ on.
enum Element : unsigned char { kBool = 1, kI32 = 5, kI64 = 6, kDouble = 7, kString = 8, kList = 9, kStruct = 12 };
std::string list_header(Element element, std::uint32_t size) {
  std::string header(1, static_cast<char>(0xF0 | element));
  for (; size > 0x7F; size >>= 7) header.push_back(static_cast<char>((size & 0x7F) | 0x80));
  return header + static_cast<char>(size);
}

bool takes_list(const std::string& message) {
  TType element = protocol::T_STOP;
  std::uint32_t size = 0;
  try {
    static_cast<protocol::TProtocol&>(*BoundedProtocol::reading(message)).readListBegin(element, size);
    return true;
  } catch (const apache::thrift::TException&) {
    return false;
  }
}

TEST(BoundedProtocolTest, ReadsWhatWasWritten) {
  api::GenerateRequest request;
  request.prompt.__set_tokens({1, 2, 3});
  request.__set_stop({"a", "b"});
  request.sampling.__set_logit_bias({{7, -1.5}});
  request.__isset.sampling = true;
  const std::string message = written([&](protocol::TProtocol& output) { request.write(&output); });
  api::GenerateRequest read;
  read.read(BoundedProtocol::reading(message).get());
  EXPECT_EQ(read, request);
}

TEST(BoundedProtocolTest, EveryElementTakesAByteOfTheMessage) {
  for (const Element element : {kBool, kI32, kI64, kString, kList, kStruct}) {
    EXPECT_TRUE(takes_list(list_header(element, 100) + std::string(100, '\0')));
    EXPECT_FALSE(takes_list(list_header(element, 101) + std::string(100, '\0')));
  }
}

TEST(BoundedProtocolTest, ClaimsThatOverflowAreRefused) {
  for (const std::uint32_t size : {1u << 28, 1u << 29, 1u << 30, (1u << 31) - 1, 1u << 31, ~0u}) {
    for (const Element element : {kBool, kI32, kI64, kDouble, kString, kList, kStruct}) {
      EXPECT_FALSE(takes_list(list_header(element, size) + std::string(64, '\0'))) << size;
    }
  }
}

TEST(BoundedProtocolTest, NumbersMayBeMoreThanObjects) {
  const auto takes = [](Element element, std::uint32_t size) {
    return takes_list(list_header(element, size) + std::string(size, '\0'));
  };
  EXPECT_TRUE(takes(kI32, BoundedProtocol::kMaxNumbers));
  EXPECT_FALSE(takes(kI32, BoundedProtocol::kMaxNumbers + 1));
  EXPECT_TRUE(takes(kStruct, BoundedProtocol::kMaxObjects));
  EXPECT_FALSE(takes(kStruct, BoundedProtocol::kMaxObjects + 1));
}

TEST(BoundedProtocolTest, MapsAreBoundedLikeListsOfObjects) {
  const auto takes_map = [](TType key, TType value, std::uint32_t size, std::size_t rest) {
    const std::string header = written([&](protocol::TProtocol& output) { output.writeMapBegin(key, value, size); });
    const std::string message = header + std::string(rest, '\0');
    TType read_key = protocol::T_STOP, read_value = protocol::T_STOP;
    std::uint32_t read_size = 0;
    try {
      static_cast<protocol::TProtocol&>(*BoundedProtocol::reading(message))
          .readMapBegin(read_key, read_value, read_size);
      return true;
    } catch (const apache::thrift::TException&) {
      return false;
    }
  };
  EXPECT_TRUE(takes_map(protocol::T_I32, protocol::T_DOUBLE, 10, 90));
  EXPECT_FALSE(takes_map(protocol::T_I32, protocol::T_DOUBLE, 91, 90));
  EXPECT_FALSE(takes_map(protocol::T_I32, protocol::T_STRING, 1u << 31, 90));
  const std::uint32_t many = BoundedProtocol::kMaxObjects + 1;
  EXPECT_FALSE(takes_map(protocol::T_I32, protocol::T_STRING, many, many * 4));
  EXPECT_FALSE(takes_map(protocol::T_I32, protocol::T_DOUBLE, many, many * 9));
}

}  // namespace
}  // namespace trireme::thrift
