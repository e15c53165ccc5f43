// SourceTree: the project's files, reduced to what the layering rules speak of.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace trireme::layering {

struct SourceLine {
  int number = 0;  // from 1
  std::string text;
};

struct SourceFile {
  std::string path;    // below the root, "runtime/model/stage_model.cc"
  std::string folder;  // folder_of(path)
  int num_lines = 0;
  std::vector<SourceLine> directives;  // preprocessor lines, "#include …", "#ifdef …"
};

// The unit of layering: the top folder, or the sub-folder of runtime ("runtime/model").
std::string folder_of(const std::string& path);

// Files ending in .h, .cc or .cu below the code folders and tests of `root`.
std::vector<SourceFile> read_source_tree(const std::filesystem::path& root);

// The path between quotes of an #include line, or empty.
std::string included_path(const std::string& directive);

}  // namespace trireme::layering
