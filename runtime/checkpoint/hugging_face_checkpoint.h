// HuggingFaceCheckpoint: a directory with config.json and the weights as model.safetensors, or as shards that
// model.safetensors.index.json lists.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/mapped_file.h"
#include "runtime/checkpoint/side_files.h"

namespace trireme::checkpoint {

// Whether the directory has such weights, under either name.
bool holds_safetensors(const std::filesystem::path& directory);

// What the files of such a directory are called.
struct HuggingFaceNames {
  std::string_view config = "config.json";
  std::string_view weights = "model.safetensors";
  std::string_view index = "model.safetensors.index.json";
};

class HuggingFaceCheckpoint : public Checkpoint {
 public:
  static base::Result<std::unique_ptr<Checkpoint>> open(const std::filesystem::path& directory,
                                                        const HuggingFaceNames& names = {});
  ~HuggingFaceCheckpoint() override;

  Format format() const override { return Format::kHuggingFace; }
  const nlohmann::json& metadata() const override { return *config_; }
  const SideFiles* side_files() const override { return &side_files_; }

 private:
  explicit HuggingFaceCheckpoint(const std::filesystem::path& directory);
  base::Status add_config(const std::filesystem::path& file);
  base::Status add_index(const std::filesystem::path& file);
  base::Result<std::vector<TensorInfo>> add_weights(const std::filesystem::path& file);

  std::unique_ptr<nlohmann::json> config_;
  DirectoryFiles side_files_;
  std::vector<MappedFile> files_;
};

}  // namespace trireme::checkpoint
