#include "runtime/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace trireme::checkpoint {
namespace {

// Closes a file descriptor at the end of its scope; a mapping outlives it.
struct DescriptorCloser {
  int descriptor;
  ~DescriptorCloser() { ::close(descriptor); }
};

std::string system_message(const std::string& name, int error) {
  return name + ": " + std::generic_category().message(error);
}

}  // namespace

base::Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  MappedFile file(path.string());
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    const auto code = error == ENOENT ? base::ErrorCode::kNotFound : base::ErrorCode::kInvalidArgument;
    return base::Error{code, system_message(file.name_, error)};
  }
  const DescriptorCloser closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return base::invalid_argument(system_message(file.name_, errno));
  if (!S_ISREG(status.st_mode)) return base::invalid_argument(file.name_ + ": not a regular file");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return file;
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (memory == MAP_FAILED) return base::resource_exhausted(system_message(file.name_ + ": cannot map", errno));
  file.bytes_ = {static_cast<const std::byte*>(memory), size};
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), name_(std::move(other.name_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
  return *this;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace trireme::checkpoint
