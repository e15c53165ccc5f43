#include "runtime/checkpoint/gguf_checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace trireme::checkpoint {

GgufCheckpoint::GgufCheckpoint(const std::filesystem::path& path, std::unique_ptr<GgufFile> file)
    : file_(std::move(file)) {
  path_ = path;
  tensors_.assign(file_->tensors().begin(), file_->tensors().end());
  std::ranges::sort(tensors_, {}, &TensorInfo::name);
  headers_.push_back(file_->file_header());
}

base::Result<std::unique_ptr<Checkpoint>> GgufCheckpoint::open(const std::filesystem::path& path) {
  auto file = GgufFile::open(path);
  if (!file) return file.error();
  const nlohmann::json& metadata = (*file)->metadata();
  const auto split = metadata.find("split.count");
  if (split != metadata.end() && *split != 0 && *split != 1) {
    return base::unsupported(path.string() + ": key 'split.count': a model in several GGUF files is not supported");
  }
  return std::unique_ptr<Checkpoint>(new GgufCheckpoint(path, std::move(*file)));
}

}  // namespace trireme::checkpoint
