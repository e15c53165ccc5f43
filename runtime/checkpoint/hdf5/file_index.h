// FileIndex: what a converted file holds and where, kept as JSON in a dataset of the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/conversion.h"

namespace trireme::checkpoint {

// The contents of a dataset, from the file's first byte.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t checksum = 0;
};

struct IndexedMatrix {
  std::string name;
  kernels::PackedMatrixShape shape;
  std::vector<std::string> tensors;
  Extent extent;
};

// A tensor of the source. Those that went into matrices, or that nothing reads, have no bytes here.
struct IndexedTensor {
  std::string name;
  std::string type_name;
  std::vector<std::int64_t> shape;
  Extent extent;
};

struct IndexedFile {
  std::string name;  // kGgufHeaderName, or a side file's
  Extent extent;
};
inline constexpr std::string_view kGgufHeaderName = "header.gguf";

struct FileIndex {
  Provenance provenance;
  Format source_format = Format::kGguf;
  std::vector<IndexedMatrix> matrices;
  std::vector<IndexedTensor> tensors;
  std::vector<IndexedFile> files;
};

std::string to_json(const FileIndex& index);
// `text` is not trusted: every extent lies in [kUserBlockBytes, file_bytes), matrices are as large as their shape says.
// Errors begin with `file`.
base::Result<FileIndex> parse_index(std::string_view text, std::uint64_t file_bytes, const std::string& file);

// Checksum of all that lies in the file behind the user block and in no extent of the index: HDF5's own structure.
// Nothing where extents overlap or leave the file. `index_extent`: where the index itself lies.
base::Result<std::uint64_t> structure_checksum(std::span<const std::byte> file, const FileIndex& index,
                                               const Extent& index_extent);

}  // namespace trireme::checkpoint
