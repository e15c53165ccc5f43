// The rules of layering, as CONTRIBUTING.md states them for people. Each returns one line per offence, "path:line:
// what".
#pragma once

#include <string>
#include <vector>

#include "tests/layering/source_tree.h"

namespace trireme::layering {

// An include of a folder that is not below the including one: upwards, sideways, or of what nothing may use.
std::vector<std::string> arrows_that_do_not_go_down(const std::vector<SourceFile>& files);

// Folders that include each other, directly or through others: "a -> b -> a".
std::vector<std::string> cycles_between_folders(const std::vector<SourceFile>& files);

// Files of more than 400 lines.
std::vector<std::string> files_that_are_too_long(const std::vector<SourceFile>& files);

// Conditional compilation, other than of the compiler's and Highway's own macros. A missing back end is another file.
std::vector<std::string> conditionals_in_callers(const std::vector<SourceFile>& files);

}  // namespace trireme::layering
