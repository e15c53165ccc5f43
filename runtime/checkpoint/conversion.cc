#include "runtime/checkpoint/conversion.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/hdf5/checksum.h"

namespace trireme::checkpoint {
namespace {

// Has the kernel read mapped bytes ahead. Only advice: a failure does not matter.
void read_ahead(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data()) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size();
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_WILLNEED);
}

}  // namespace

const PackedMatrix* Conversion::find(std::string_view name) const {
  const auto found =
      std::lower_bound(matrices.begin(), matrices.end(), name,
                       [](const PackedMatrix& matrix, std::string_view key) { return matrix.name < key; });
  return found != matrices.end() && found->name == name ? &*found : nullptr;
}

base::Status copy_matrix(const Conversion& conversion, const PackedMatrix& matrix, kernels::ThreadPool& pool,
                         std::byte* packed) {
  read_ahead(matrix.data);
  std::vector<std::uint64_t> chunks(num_checksum_chunks(matrix.data.size()));
  pool.parallel_for(static_cast<std::int64_t>(chunks.size()), [&](std::int64_t index) {
    const std::size_t begin = static_cast<std::size_t>(index) * kChecksumChunkBytes;
    const std::size_t size = std::min(kChecksumChunkBytes, matrix.data.size() - begin);
    std::memcpy(packed + begin, matrix.data.data() + begin, size);
    chunks[static_cast<std::size_t>(index)] = checksum_of_chunk({packed + begin, size});
  });
  if (combine_checksums(chunks) == matrix.checksum) return base::ok_status();
  return base::invalid_argument(conversion.file + ": tensor " + in_quotes(matrix.name) +
                                ": damaged or altered (its checksum is wrong)");
}

}  // namespace trireme::checkpoint
