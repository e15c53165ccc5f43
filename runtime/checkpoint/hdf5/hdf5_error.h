// Hdf5Error: writing a converted file failed, in libhdf5 or in the system.
#pragma once

#include <stdexcept>
#include <string>

namespace trireme::checkpoint {

class Hdf5Error : public std::runtime_error {
 public:
  // "file: call: reason"
  Hdf5Error(const std::string& file, const std::string& call, const std::string& reason)
      : std::runtime_error(file + ": " + call + ": " + reason) {}
};

// What libhdf5 says of its last failure on this thread, in one line: the system's message if that was the cause.
std::string hdf5_reason();

}  // namespace trireme::checkpoint
