// GgufCheckpoint: a model in one GGUF file.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "base/result.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/gguf_file.h"

namespace trireme::checkpoint {

class GgufCheckpoint : public Checkpoint {
 public:
  static base::Result<std::unique_ptr<Checkpoint>> open(const std::filesystem::path& path);

  Format format() const override { return Format::kGguf; }
  const nlohmann::json& metadata() const override { return file_->metadata(); }
  const GgufFile* gguf() const override { return file_.get(); }

 private:
  GgufCheckpoint(const std::filesystem::path& path, std::unique_ptr<GgufFile> file);
  std::unique_ptr<GgufFile> file_;
};

}  // namespace trireme::checkpoint
