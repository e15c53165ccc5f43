#include "runtime/checkpoint/hugging_face_checkpoint.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/checkpoint/bounded_json.h"
#include "runtime/checkpoint/error_text.h"
#include "runtime/checkpoint/safetensors_header.h"
#include "runtime/checkpoint/shard_index.h"

namespace trireme::checkpoint {
namespace {

constexpr HuggingFaceNames kModelNames;
constexpr std::size_t kMaxConfigBytes = 16 << 20;

// Whether the name is there at all; a link that leads nowhere counts, so that opening it reports why.
bool has_entry(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

}  // namespace

bool holds_safetensors(const std::filesystem::path& directory) {
  return has_entry(directory / kModelNames.weights) || has_entry(directory / kModelNames.index);
}

HuggingFaceCheckpoint::HuggingFaceCheckpoint(const std::filesystem::path& directory) : side_files_(directory) {
  path_ = directory;
}
HuggingFaceCheckpoint::~HuggingFaceCheckpoint() = default;

base::Result<std::unique_ptr<Checkpoint>> HuggingFaceCheckpoint::open(const std::filesystem::path& directory,
                                                                      const HuggingFaceNames& names) {
  std::unique_ptr<HuggingFaceCheckpoint> checkpoint(new HuggingFaceCheckpoint(directory));
  if (const auto status = checkpoint->add_config(directory / names.config); !status) return status.error();
  if (has_entry(directory / names.weights) || !has_entry(directory / names.index)) {
    auto tensors = checkpoint->add_weights(directory / names.weights);
    if (!tensors) return tensors.error();
    checkpoint->tensors_ = std::move(*tensors);
  } else if (const auto status = checkpoint->add_index(directory / names.index); !status) {
    return status.error();
  }
  return std::unique_ptr<Checkpoint>(std::move(checkpoint));
}

base::Status HuggingFaceCheckpoint::add_config(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  if (file->bytes().size() > kMaxConfigBytes) return base::invalid_argument(file->name() + ": larger than 16 MiB");
  auto config = parse_bounded_json(file->text(), file->name());
  if (!config) return config.error();
  if (!config->is_object()) return base::invalid_argument(file->name() + ": not a JSON object");
  config_ = std::make_unique<nlohmann::json>(std::move(*config));
  headers_.push_back({file->bytes(), file->bytes().size()});
  files_.push_back(std::move(*file));
  return base::ok_status();
}

// Maps one safetensors file and returns its tensors.
base::Result<std::vector<TensorInfo>> HuggingFaceCheckpoint::add_weights(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  if (!file) return file.error();
  auto header = parse_safetensors(file->bytes(), file->name());
  if (!header) return header.error();
  headers_.push_back({file->bytes().first(header->header_bytes), file->bytes().size()});
  files_.push_back(std::move(*file));
  return std::move(header->tensors);
}

// Maps every shard once. Index and shards must agree on which tensor is where.
base::Status HuggingFaceCheckpoint::add_index(const std::filesystem::path& path) {
  const auto index_file = MappedFile::open(path);
  if (!index_file) return index_file.error();
  const auto index = parse_shard_index(index_file->text(), index_file->name());
  const std::string index_name = path.filename().string();
  if (!index) return index.error();
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : *index) shards.insert(shard);
  for (const auto& shard : shards) {
    auto tensors = add_weights(path_ / shard);
    if (!tensors) return tensors.error();
    for (const TensorInfo& tensor : *tensors) {
      const auto entry = index->find(tensor.name);
      if (entry != index->end() && entry->second == shard) continue;
      const std::string expected = entry == index->end() ? "does not list" : "expects in " + in_quotes(entry->second);
      return base::invalid_argument(tensor.file + ": tensor " + in_quotes(tensor.name) + ": a tensor that " +
                                    index_name + " " + expected);
    }
    tensors_.insert(tensors_.end(), std::move_iterator(tensors->begin()), std::move_iterator(tensors->end()));
  }
  std::ranges::sort(tensors_, {}, &TensorInfo::name);
  for (const auto& [tensor, shard] : *index) {
    if (find(tensor) == nullptr) {
      return base::invalid_argument((path_ / shard).string() + ": tensor " + in_quotes(tensor) + ": missing, though " +
                                    index_name + " lists it here");
    }
  }
  return base::ok_status();
}

}  // namespace trireme::checkpoint
