#define XXH_INLINE_ALL
#include "runtime/checkpoint/hdf5/checksum.h"

#include <xxhash.h>

#include <algorithm>
#include <vector>

namespace trireme::checkpoint {

std::uint64_t checksum_of_chunk(std::span<const std::byte> chunk) {
  return XXH3_64bits(chunk.data(), chunk.size());
}

std::uint64_t combine_checksums(std::span<const std::uint64_t> chunks) {
  return XXH3_64bits(chunks.data(), chunks.size_bytes());
}

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  std::vector<std::uint64_t> chunks;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kChecksumChunkBytes) {
    chunks.push_back(checksum_of_chunk(bytes.subspan(begin, std::min(kChecksumChunkBytes, bytes.size() - begin))));
  }
  return combine_checksums(chunks);
}

}  // namespace trireme::checkpoint
