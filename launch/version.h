// The version of the program, as the top CMakeLists.txt states it.
#pragma once

namespace trireme::launch {

const char* version();

}  // namespace trireme::launch
