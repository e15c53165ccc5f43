// A safetensors file: every tensor that is accepted lies within the file.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/checkpoint/safetensors_header.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace checkpoint = trireme::checkpoint;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = checkpoint::parse_safetensors(bytes, "fuzz");
  if (!header) return 0;
  for (const checkpoint::TensorInfo& tensor : header->tensors) {
    TRIREME_CHECK(tensor.data >= bytes.data() && tensor.data + tensor.bytes <= bytes.data() + size) << tensor.name;
    if (tensor.bytes == 0 || !checkpoint::Checkpoint::check_readable(tensor)) continue;
    std::vector<float> row(static_cast<std::size_t>(tensor.row_size()));
    checkpoint::Checkpoint::read_rows(tensor, tensor.num_rows() - 1, tensor.num_rows(), row.data());
  }
  return 0;
}
