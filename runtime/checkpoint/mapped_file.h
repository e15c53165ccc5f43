// MappedFile: move-only owner of a regular file's bytes, mapped read-only. Its size is the file's when opened; a file
// that somebody shortens later faults on access.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace trireme::checkpoint {

class MappedFile {
 public:
  // Never blocks (a pipe or device is refused); an empty file maps to no bytes.
  static base::Result<MappedFile> open(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }
  const std::string& name() const { return name_; }  // the path, for messages

 private:
  explicit MappedFile(std::string name) : name_(std::move(name)) {}
  std::span<const std::byte> bytes_;
  std::string name_;
};

}  // namespace trireme::checkpoint
