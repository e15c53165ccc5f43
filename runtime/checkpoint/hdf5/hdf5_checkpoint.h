// Hdf5Checkpoint: a whole model in one HDF5 file that 'trireme convert' wrote (hdf5_writer.h has the layout).
// It is read without libhdf5, whose parser is no match for hostile files: the user block leads to an index of our own,
// and what that names are contiguous datasets, mapped as they lie. Nothing is used before its checksum was verified.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/conversion.h"
#include "runtime/checkpoint/gguf_file.h"
#include "runtime/checkpoint/hdf5/file_index.h"
#include "runtime/checkpoint/mapped_file.h"
#include "runtime/checkpoint/side_files.h"

namespace trireme::checkpoint {

class Hdf5Checkpoint : public Checkpoint {
 public:
  // Whether the file's first bytes or its name (.h5, .hdf5) say that it is to be such a file.
  static bool is_meant(const std::filesystem::path& path);
  // Verifies all but the packed matrices, which copy_matrix does. Errors name file and tensor.
  static base::Result<std::unique_ptr<Checkpoint>> open(const std::filesystem::path& path);
  ~Hdf5Checkpoint() override;

  Format format() const override { return format_; }
  const nlohmann::json& metadata() const override;
  const GgufFile* gguf() const override { return gguf_.get(); }
  const SideFiles* side_files() const override { return gguf_ == nullptr ? &side_files_ : nullptr; }
  const Conversion* conversion() const override { return &conversion_; }

 private:
  explicit Hdf5Checkpoint(MappedFile file);
  base::Status load();
  base::Status add_tensors(const FileIndex& index);
  base::Status add_source(const FileIndex& index);

  MappedFile file_;
  Format format_ = Format::kGguf;
  std::unique_ptr<GgufFile> gguf_;
  std::unique_ptr<nlohmann::json> config_;
  EmbeddedFiles side_files_;
  Conversion conversion_;
};

}  // namespace trireme::checkpoint
