// FileHandle: move-only owner of a file descriptor, with the calls that a batch job needs; each failure is told with
// the file's name and the system's reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace trireme::launch {

class FileHandle {
 public:
  FileHandle() = default;
  // `flags`, `mode`: of open(2). Never blocks; refuses what is not a regular file.
  static base::Result<FileHandle> open(const std::string& path, int flags, unsigned mode = 0666);
  FileHandle(FileHandle&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}
  FileHandle& operator=(FileHandle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~FileHandle();

  const std::string& path() const { return path_; }
  base::Result<std::uint64_t> size() const;
  // Up to so many bytes; 0 at the end of the file.
  base::Result<std::size_t> read(std::span<char> bytes) const;
  base::Status write_all(std::string_view bytes) const;  // at the end, where opened for appending
  base::Status write_all_at(std::string_view bytes, std::uint64_t offset) const;
  base::Status truncate(std::uint64_t size) const;
  base::Status sync() const;  // data and size are on the disk
  // False if another process holds it. Where the file system knows no locks, true.
  bool try_lock() const;

 private:
  FileHandle(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  base::Error failure(const char* what) const;

  int descriptor_ = -1;
  std::string path_;
};

// The entry of a new or renamed file in its folder is on the disk.
base::Status sync_folder_of(const std::string& path);

}  // namespace trireme::launch
