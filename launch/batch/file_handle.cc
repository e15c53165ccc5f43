#include "launch/batch/file_handle.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace trireme::launch {
namespace {

base::Error system_error(const std::string& path, const char* what, int code) {
  const std::string message = path + ": " + what + ": " + std::strerror(code);
  const bool exhausted = code == ENOSPC || code == EDQUOT || code == EIO;
  return exhausted ? base::resource_exhausted(message) : base::not_found(message);
}

}  // namespace

base::Error FileHandle::failure(const char* what) const {
  return system_error(path_, what, errno);
}

base::Result<FileHandle> FileHandle::open(const std::string& path, int flags, unsigned mode) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode);
  if (descriptor < 0) return system_error(path, "cannot be opened", errno);
  FileHandle file(descriptor, path);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return file.failure("cannot be opened");
  if (!S_ISREG(status.st_mode)) return base::invalid_argument(path + ": is not a regular file");
  return file;
}

FileHandle::~FileHandle() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

base::Result<std::uint64_t> FileHandle::size() const {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) return failure("has no size");
  return static_cast<std::uint64_t>(status.st_size);
}

base::Result<std::size_t> FileHandle::read(std::span<char> bytes) const {
  while (true) {
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return failure("reading failed");
  }
}

base::Status FileHandle::write_all(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("writing failed");
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return base::ok_status();
}

base::Status FileHandle::write_all_at(std::string_view bytes, std::uint64_t offset) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("writing failed");
    bytes.remove_prefix(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return base::ok_status();
}

base::Status FileHandle::truncate(std::uint64_t size) const {
  while (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    if (errno != EINTR) return failure("shortening failed");
  }
  return base::ok_status();
}

base::Status FileHandle::sync() const {
  while (::fdatasync(descriptor_) != 0) {
    if (errno != EINTR) return failure("writing to the disk failed");
  }
  return base::ok_status();
}

bool FileHandle::try_lock() const {
  return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

base::Status sync_folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return system_error(folder, "cannot be opened", errno);
  const bool failed = ::fsync(descriptor) != 0 && errno != EINVAL;  // not every file system can
  const int code = errno;
  ::close(descriptor);
  if (failed) return system_error(folder, "writing to the disk failed", code);
  return base::ok_status();
}

}  // namespace trireme::launch
