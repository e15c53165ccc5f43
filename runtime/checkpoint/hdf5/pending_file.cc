#include "runtime/checkpoint/hdf5/pending_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "runtime/checkpoint/hdf5/hdf5_error.h"

namespace trireme::checkpoint {
namespace {

[[noreturn]] void fail(const std::filesystem::path& file, const char* call) {
  throw Hdf5Error(file.string(), call, std::generic_category().message(errno));
}

// An open file, closed at the end of its scope.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : path_(path), value_(::open(path.c_str(), flags | O_CLOEXEC)) {
    if (value_ < 0) fail(path_, "open");
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(value_); }

  void sync() const {
    if (::fsync(value_) != 0) fail(path_, "fsync");
  }
  void write(std::span<const std::byte> bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t count = ::pwrite(value_, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
      if (count < 0 && errno != EINTR) fail(path_, "write");
      if (count > 0) done += static_cast<std::size_t>(count);
    }
  }

 private:
  const std::filesystem::path& path_;
  int value_;
};

}  // namespace

PendingFile::PendingFile(std::filesystem::path target) : target_(std::move(target)), path_(target_) {
  path_ += ".partial";
}

PendingFile::~PendingFile() {
  if (!committed_) ::unlink(path_.c_str());
}

void PendingFile::sync() const {
  Descriptor(path_, O_RDONLY).sync();
}

void PendingFile::overwrite(std::span<const std::byte> bytes) const {
  const Descriptor file(path_, O_WRONLY);
  file.write(bytes);
  file.sync();
}

void PendingFile::commit() {
  if (::rename(path_.c_str(), target_.c_str()) != 0) fail(target_, "rename");
  committed_ = true;
  const std::filesystem::path parent = target_.parent_path();
  const std::filesystem::path folder = parent.empty() ? std::filesystem::path(".") : parent;
  Descriptor(folder, O_RDONLY | O_DIRECTORY).sync();
}

}  // namespace trireme::checkpoint
