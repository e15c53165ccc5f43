// SideFiles: the small files beside a model's weights in Hugging Face's format (tokenizer.json, chat_template.jinja,
// …), from the model's directory or from within a converted file.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace trireme::checkpoint {

inline constexpr std::size_t kMaxSideFileBytes = std::size_t{256} << 20;

// All that somebody reads.
inline constexpr std::array<std::string_view, 6> kSideFileNames = {
    "config.json",           "tokenizer.json",         "tokenizer.model",
    "tokenizer_config.json", "generation_config.json", "chat_template.jinja"};

class SideFiles {
 public:
  virtual ~SideFiles() = default;
  // The whole file. kNotFound where it does not exist; other errors are one line naming the file.
  virtual base::Result<std::string> read(std::string_view name) const = 0;
  // The file for messages; of an empty name, where all lie.
  virtual std::string where(std::string_view name) const = 0;
};

class DirectoryFiles : public SideFiles {
 public:
  explicit DirectoryFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}
  base::Result<std::string> read(std::string_view name) const override;
  std::string where(std::string_view name) const override;

 private:
  std::filesystem::path directory_;
};

// Files that lie in memory, which outlives this.
class EmbeddedFiles : public SideFiles {
 public:
  explicit EmbeddedFiles(std::string container) : container_(std::move(container)) {}
  void add(std::string name, std::span<const std::byte> bytes) { files_[std::move(name)] = bytes; }
  base::Result<std::string> read(std::string_view name) const override;
  std::string where(std::string_view name) const override;

 private:
  std::string container_;
  std::map<std::string, std::span<const std::byte>, std::less<>> files_;
};

}  // namespace trireme::checkpoint
