// The user block of a converted file: the bytes before its HDF5 part, which HDF5 leaves to us. It says where the index
// lies and what all that is not a dataset's contents must be. Written last, it is also the mark of a finished file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace trireme::checkpoint {

inline constexpr std::size_t kUserBlockBytes = 4096;  // a power of two from 512 on, by HDF5's rules

struct UserBlock {
  std::uint64_t file_bytes = 0;
  std::uint64_t index_offset = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t index_checksum = 0;
  std::uint64_t structure_checksum = 0;  // structure_checksum() in file_index.h
};

std::array<std::byte, kUserBlockBytes> encode(const UserBlock& block);
// Nothing unless the file begins with a whole user block of this version.
std::optional<UserBlock> decode_user_block(std::span<const std::byte> file);

// Whether the file begins as a converted file or as any HDF5 file does.
bool begins_like_hdf5(std::span<const std::byte> file);

}  // namespace trireme::checkpoint
