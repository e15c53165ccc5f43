// PendingFile: a file that takes its name only when it is whole. Until commit() it is "NAME.partial" in the same
// folder, removed by the destructor; what a killed process leaves there is replaced by the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace trireme::checkpoint {

class PendingFile {
 public:
  explicit PendingFile(std::filesystem::path target);
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;
  ~PendingFile();

  const std::filesystem::path& path() const { return path_; }  // where to write

  // All throw Hdf5Error. sync() returns when the bytes are on disk; overwrite() replaces the first ones.
  void sync() const;
  void overwrite(std::span<const std::byte> bytes) const;
  void commit();  // renames; the folder is synced, too

 private:
  std::filesystem::path target_, path_;
  bool committed_ = false;
};

}  // namespace trireme::checkpoint
