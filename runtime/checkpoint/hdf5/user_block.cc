#include "runtime/checkpoint/hdf5/user_block.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/checkpoint/hdf5/checksum.h"

namespace trireme::checkpoint {
namespace {

constexpr std::string_view kMagic = "trireme checkpoint 1\n";
constexpr std::size_t kFieldsOffset = 64;
constexpr std::size_t kChecksumOffset = kUserBlockBytes - sizeof(std::uint64_t);
constexpr std::array<unsigned char, 8> kHdf5Signature = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

bool has_at(std::span<const std::byte> file, std::size_t offset, const void* text, std::size_t size) {
  return file.size() >= offset + size && std::memcmp(file.data() + offset, text, size) == 0;
}

}  // namespace

std::array<std::byte, kUserBlockBytes> encode(const UserBlock& block) {
  static_assert(sizeof(UserBlock) == 5 * sizeof(std::uint64_t));
  std::array<std::byte, kUserBlockBytes> bytes{};
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  std::memcpy(bytes.data() + kFieldsOffset, &block, sizeof block);
  const std::uint64_t checksum = checksum_of(std::span(bytes).first(kChecksumOffset));
  std::memcpy(bytes.data() + kChecksumOffset, &checksum, sizeof checksum);
  return bytes;
}

std::optional<UserBlock> decode_user_block(std::span<const std::byte> file) {
  if (file.size() < kUserBlockBytes || !has_at(file, 0, kMagic.data(), kMagic.size())) return std::nullopt;
  std::uint64_t checksum = 0;
  std::memcpy(&checksum, file.data() + kChecksumOffset, sizeof checksum);
  if (checksum != checksum_of(file.first(kChecksumOffset))) return std::nullopt;
  UserBlock block;
  std::memcpy(&block, file.data() + kFieldsOffset, sizeof block);
  return block;
}

bool begins_like_hdf5(std::span<const std::byte> file) {
  // HDF5 looks for its signature at 0, 512 and so on, doubling.
  constexpr std::size_t kPlaces[] = {0, 512, 1024, 2048, 4096};
  return has_at(file, 0, kMagic.data(), kMagic.size()) || std::ranges::any_of(kPlaces, [file](std::size_t place) {
           return has_at(file, place, kHdf5Signature.data(), kHdf5Signature.size());
         });
}

}  // namespace trireme::checkpoint
