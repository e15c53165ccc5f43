// A configuration file.
#include <cstdint>
#include <string>

#include "runtime/config/load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  trireme::config::ConfigSources sources;
  sources.file = {std::string(reinterpret_cast<const char*>(data), size), "fuzz.yaml"};
  static_cast<void>(trireme::config::load(sources));
  return 0;
}
