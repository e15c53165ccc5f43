#include "launch/convert/conversion_text.h"

#include <array>
#include <cinttypes>
#include <cstdio>

namespace trireme::launch {
namespace {

std::string hexadecimal(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016" PRIx64, value);
  return text.data();
}

// A terminal must not be told what to do by a file.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace

std::string describe_provenance(const checkpoint::Provenance& provenance) {
  return "converted     from " + printable(provenance.source) + " (" + std::to_string(provenance.source_bytes) +
         " bytes, XXH3 " + hexadecimal(provenance.source_hash) + ") with --weights " + printable(provenance.weights) +
         "\n              by trireme " + printable(provenance.program_version) + ": " +
         printable(provenance.command_line) + "\n";
}

std::string list_matrices(const checkpoint::Conversion& conversion) {
  std::string text;
  for (const checkpoint::PackedMatrix& matrix : conversion.matrices) {
    text += "  " + printable(matrix.name) + "  " + std::string(to_string(matrix.shape.format)) + "  [" +
            std::to_string(matrix.shape.out_features) + ", " + std::to_string(matrix.shape.in_features) + "]  " +
            std::to_string(matrix.data.size()) + " bytes  XXH3 " + hexadecimal(matrix.checksum) + "\n";
  }
  return text;
}

}  // namespace trireme::launch
