#include "launch/text_input.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace trireme::launch {

base::Result<std::string> read_text(const std::string& path) {
  using Bytes = std::istreambuf_iterator<char>;
  if (path.empty() || path == "-") return std::string(Bytes(std::cin), Bytes());
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return base::not_found(path + ": is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::not_found(path + ": cannot be read: " + std::strerror(errno));
  std::string text(Bytes(file), {});
  if (file.bad()) return base::not_found(path + ": reading failed");
  return text;
}

}  // namespace trireme::launch
