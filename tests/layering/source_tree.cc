#include "tests/layering/source_tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace trireme::layering {
namespace {

namespace fs = std::filesystem;

constexpr std::array kTopFolders = {"base",    "kernels", "parallel", "scheduler",
                                    "runtime", "launch",  "tests",    "examples"};

bool is_source(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".h" || extension == ".cc" || extension == ".cu" || extension == ".cuh";
}

SourceFile read_source(const fs::path& root, const fs::path& path) {
  SourceFile file;
  file.path = fs::relative(path, root).generic_string();
  file.folder = folder_of(file.path);
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    ++file.num_lines;
    const std::size_t start = line.find_first_not_of(" \t");
    if (start != std::string::npos && line[start] == '#')
      file.directives.push_back({file.num_lines, line.substr(start)});
  }
  return file;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const std::size_t first = path.find('/');
  const std::string top = path.substr(0, first);
  const std::size_t second = first == std::string::npos ? first : path.find('/', first + 1);
  if (top != "runtime" || second == std::string::npos) return top;
  return path.substr(0, second);
}

std::vector<SourceFile> read_source_tree(const fs::path& root) {
  std::vector<SourceFile> files;
  for (const char* top : kTopFolders) {
    if (!fs::is_directory(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.is_regular_file() && is_source(entry.path())) files.push_back(read_source(root, entry.path()));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

std::string included_path(const std::string& directive) {
  std::size_t position = directive.find_first_not_of(" \t", 1);
  if (position == std::string::npos || directive.compare(position, 7, "include") != 0) return {};
  position = directive.find_first_not_of(" \t", position + 7);
  if (position == std::string::npos || directive[position] != '"') return {};
  return directive.substr(position + 1, directive.find('"', position + 1) - position - 1);
}

}  // namespace trireme::layering
