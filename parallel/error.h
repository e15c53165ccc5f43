// ParallelError: the communication environment failed. Caught only in the rank's main.
#pragma once

#include <stdexcept>
#include <string>

namespace trireme::parallel {

class ParallelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;  // the text names call, code, rank and the two sides that disagree
};

}  // namespace trireme::parallel
