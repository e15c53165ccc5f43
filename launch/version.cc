#include "launch/version.h"

namespace trireme::launch {

const char* version() {
  return TRIREME_VERSION;
}

}  // namespace trireme::launch
