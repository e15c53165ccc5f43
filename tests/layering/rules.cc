#include "tests/layering/rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <string_view>

namespace trireme::layering {
namespace {

constexpr int kMaxLines = 400;
constexpr std::string_view kHighway = "hwy/";  // a library that asks to be included between quotes

// Folders by height: one may include what is lower; none of the same height. Leaves share a height.
const std::map<std::string, int>& heights() {
  static const std::map<std::string, int> kHeights = {
      {"base", 0},
      {"kernels", 1},
      {"parallel", 1},
      {"scheduler", 1},
      {"runtime/device", 2},
      {"runtime/config", 3},
      {"runtime/checkpoint", 4},
      {"runtime/tokenizer", 5},
      {"runtime/chat", 6},
      {"runtime/kv_cache", 7},
      {"runtime/model", 8},
      {"runtime/calibration", 9},
      {"runtime/encoder", 9},
      {"runtime/sampling", 9},
      {"runtime/worker", 10},
      {"runtime/engine", 11},
      {"launch", 12},
      {"examples", 13},
      {"tests", 13},
  };
  return kHeights;
}

std::string place(const SourceFile& file, int line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

struct Arrow {
  const SourceFile* file;
  int line;
  std::string included, to;
};

std::vector<Arrow> arrows(const std::vector<SourceFile>& files) {
  std::vector<Arrow> result;
  for (const SourceFile& file : files) {
    for (const SourceLine& directive : file.directives) {
      const std::string included = included_path(directive.text);
      if (included.empty() || included.starts_with(kHighway)) continue;
      result.push_back({&file, directive.number, included, folder_of(included)});
    }
  }
  return result;
}

using Graph = std::map<std::string, std::set<std::string>>;

// Depth-first search; `path` is the way from its start to `folder`.
void find_cycles(const Graph& graph, const std::string& folder, std::vector<std::string>& path,
                 std::set<std::string>& finished, std::vector<std::string>& cycles) {
  if (const auto seen = std::find(path.begin(), path.end(), folder); seen != path.end()) {
    std::string cycle;
    for (auto step = seen; step != path.end(); ++step) cycle += *step + " -> ";
    cycles.push_back(cycle + folder);
    return;
  }
  if (finished.contains(folder) || !graph.contains(folder)) return;
  path.push_back(folder);
  for (const std::string& next : graph.at(folder)) find_cycles(graph, next, path, finished, cycles);
  path.pop_back();
  finished.insert(folder);
}

}  // namespace

std::vector<std::string> arrows_that_do_not_go_down(const std::vector<SourceFile>& files) {
  std::vector<std::string> offences;
  for (const Arrow& arrow : arrows(files)) {
    const std::string where = place(*arrow.file, arrow.line) + "\"" + arrow.included + "\" ";
    if (!heights().contains(arrow.file->folder)) {
      offences.push_back(where + "is included from folder " + arrow.file->folder + ", which has no place in the order");
    } else if (!heights().contains(arrow.to)) {
      offences.push_back(where + "names no folder of the project: include from the root");
    } else if (arrow.file->folder != arrow.to && heights().at(arrow.to) >= heights().at(arrow.file->folder)) {
      offences.push_back(where + "goes up or sideways: " + arrow.file->folder + " may not use " + arrow.to);
    }
  }
  return offences;
}

std::vector<std::string> cycles_between_folders(const std::vector<SourceFile>& files) {
  Graph graph;
  for (const Arrow& arrow : arrows(files)) {
    if (arrow.file->folder != arrow.to) graph[arrow.file->folder].insert(arrow.to);
  }
  std::vector<std::string> cycles, path;
  std::set<std::string> finished;
  for (const auto& [folder, unused] : graph) find_cycles(graph, folder, path, finished, cycles);
  return cycles;
}

std::vector<std::string> files_that_are_too_long(const std::vector<SourceFile>& files) {
  std::vector<std::string> offences;
  for (const SourceFile& file : files) {
    if (file.num_lines <= kMaxLines) continue;
    offences.push_back(place(file, file.num_lines) + "more than " + std::to_string(kMaxLines) + " lines; split it");
  }
  return offences;
}

std::vector<std::string> conditionals_in_callers(const std::vector<SourceFile>& files) {
  // What a conditional may ask for: the compiler, its target and sanitizers, and Highway's scheme of compiling a file
  // once per instruction set.
  static const std::regex kAllowed("__[A-Za-z0-9_]+|HWY_[A-Z0-9_]+|TRIREME_[A-Z0-9_]+_INL_H_|NDEBUG|defined|[0-9]+L?");
  static const std::regex kConditional(R"(^#\s*(if|ifdef|ifndef|elif)\b(.*))");
  static const std::regex kName("[A-Za-z_][A-Za-z0-9_]*");
  std::vector<std::string> offences;
  for (const SourceFile& file : files) {
    for (const SourceLine& directive : file.directives) {
      std::smatch match;
      if (!std::regex_match(directive.text, match, kConditional)) continue;
      const std::string condition = match[2].str().substr(0, match[2].str().find("//"));
      for (std::sregex_iterator name(condition.begin(), condition.end(), kName), end; name != end; ++name) {
        if (std::regex_match(name->str(), kAllowed)) continue;
        offences.push_back(place(file, directive.number) + "conditional on " + name->str() +
                           "; let CMake choose another source file");
      }
    }
  }
  return offences;
}

}  // namespace trireme::layering
