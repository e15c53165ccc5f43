// Hdf5Writer: writes a whole model into one HDF5 file. Layout:
//     user block   see user_block.h
//     /layers/N    a layer's matrices (uint8, packed for the kernels) and vectors (uint8, as the source has them)
//     /embedding   and /head, …: the other matrices
//     /tensors     the other vectors
//     /source      header.gguf (all that precedes the weights of a GGUF file), or config.json, tokenizer.json, …
//     /index       what hdf5_checkpoint.h reads (file_index.h, JSON)
//
// All datasets are contiguous and unfiltered, those of a page or more begin at a page's start. Attributes repeat for
// other programs what the index says: of matrices format, out_features, in_features, tensors and checksum; of vectors
// type, shape and checksum; of the root where it all came from.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/conversion.h"

namespace trireme::checkpoint {

// One thread; every function throws Hdf5Error when the file cannot be written.
class Hdf5Writer {
 public:
  // `target` appears, or is replaced, by finish() alone.
  Hdf5Writer(const std::filesystem::path& target, const Provenance& provenance, Format source_format);
  ~Hdf5Writer();
  Hdf5Writer(const Hdf5Writer&) = delete;
  Hdf5Writer& operator=(const Hdf5Writer&) = delete;

  void add_matrix(const PackedMatrix& matrix);  // its checksum is worked out here
  // A tensor with its contents, in `group` ("layers/3"), or the mention of one whose contents are in matrices.
  void add_tensor(const std::string& group, const TensorInfo& tensor);
  void mention_tensor(const TensorInfo& tensor);
  void add_file(const std::string& name, std::span<const std::byte> bytes);  // kGgufHeaderName, or a side file

  // Writes the index, closes and syncs the file, reads it all back against the checksums (libhdf5 does not report every
  // failed write), marks it as finished and gives it its name. Nothing may be added afterwards.
  void finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::checkpoint
