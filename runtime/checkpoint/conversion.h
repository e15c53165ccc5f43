// Conversion: what a file that 'trireme convert' wrote holds beyond a plain checkpoint: matrices packed for the
// kernels, and where it all came from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/packed_matrix.h"
#include "kernels/thread_pool.h"

namespace trireme::checkpoint {

// A matrix in the kernels' layout. `name` is model::MatrixSource's.
struct PackedMatrix {
  std::string name;
  kernels::PackedMatrixShape shape;
  std::vector<std::string> tensors;  // of the source, that it is made of
  std::span<const std::byte> data;   // shape.bytes(), mapped
  std::uint64_t checksum = 0;        // see hdf5/checksum.h
};

struct Provenance {
  std::string weights;          // the --weights of the conversion
  std::string program_version;  // of the program that converted
  std::string command_line;
  std::string source;  // name of the model's file or directory
  std::uint64_t source_bytes = 0;
  std::uint64_t source_hash = 0;  // Checkpoint::content_hash
};

struct Conversion {
  std::string file;  // for messages
  Provenance provenance;
  std::vector<PackedMatrix> matrices;  // sorted by name

  const PackedMatrix* find(std::string_view name) const;
};

// Copies the matrix to `packed` (shape.bytes()) with all threads of the pool, in large reads in the file's order.
// Error: its checksum is wrong; it names file and matrix.
base::Status copy_matrix(const Conversion& conversion, const PackedMatrix& matrix, kernels::ThreadPool& pool,
                         std::byte* packed);

}  // namespace trireme::checkpoint
