// What 'inspect' and 'convert' say about a converted model.
#pragma once

#include <string>

#include "runtime/checkpoint/conversion.h"

namespace trireme::launch {

// Lines, each ended: source, options, program and command line of the conversion. What the file says is printed as
// printable ASCII.
std::string describe_provenance(const checkpoint::Provenance& provenance);

// Every matrix: name, format, shape, bytes, checksum.
std::string list_matrices(const checkpoint::Conversion& conversion);

}  // namespace trireme::launch
