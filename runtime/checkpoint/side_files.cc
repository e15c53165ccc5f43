#include "runtime/checkpoint/side_files.h"

#include <fstream>
#include <system_error>

namespace trireme::checkpoint {

base::Result<std::string> DirectoryFiles::read(std::string_view name) const {
  const std::filesystem::path path = directory_ / name;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return base::not_found(path.string() + " does not exist");
  if (!std::filesystem::is_regular_file(path, error)) return base::invalid_argument(path.string() + " is not a file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error || size > kMaxSideFileBytes) return base::invalid_argument(path.string() + " is larger than 256 MiB");
  std::ifstream stream(path, std::ios::binary);
  std::string text(size, '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(size))) {
    return base::invalid_argument(path.string() + " cannot be read");
  }
  return text;
}

std::string DirectoryFiles::where(std::string_view name) const {
  return name.empty() ? directory_.string() : (directory_ / name).string();
}

base::Result<std::string> EmbeddedFiles::read(std::string_view name) const {
  const auto found = files_.find(name);
  if (found == files_.end()) return base::not_found(where(name) + " does not exist");
  const std::span<const std::byte> bytes = found->second;
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string EmbeddedFiles::where(std::string_view name) const {
  return name.empty() ? container_ : container_ + ": " + std::string(name);
}

}  // namespace trireme::checkpoint
