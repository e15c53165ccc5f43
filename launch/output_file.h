// OutputFile: a file that an option names, opened before the work whose result it is to hold.
#pragma once

#include <fstream>
#include <string>

#include "base/result.h"

namespace trireme::launch {

class OutputFile {
 public:
  // `option`: for messages. An empty path: not wanted, then nothing is opened or written.
  OutputFile(std::string option, std::string path);

  // Empties the file. Error: it cannot be written.
  base::Status open();
  // Precondition: open() has returned ok. Error: the disk is full, or the like.
  base::Status write(const std::string& text);

 private:
  std::string option_, path_;
  std::ofstream stream_;
};

}  // namespace trireme::launch
