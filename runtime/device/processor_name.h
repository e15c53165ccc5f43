// What the processor calls itself, for reports.
#pragma once

#include <filesystem>
#include <string>

namespace trireme::device {

// "model name" of /proc/cpuinfo below `root`; "unknown processor" where there is none.
std::string processor_name(const std::filesystem::path& root = "/");

}  // namespace trireme::device
