// A GGUF file: every tensor that is accepted can be read, and so can the tokenizer, which then encodes a text.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/tokenizer/tokenizer.h"

namespace {

using trireme::checkpoint::Checkpoint;

void read(const Checkpoint& checkpoint) {
  for (const auto& tensor : checkpoint.tensors()) {
    if (tensor.bytes == 0 || !Checkpoint::check_readable(tensor)) continue;
    std::vector<float> row(static_cast<std::size_t>(tensor.row_size()));
    Checkpoint::read_rows(tensor, tensor.num_rows() - 1, tensor.num_rows(), row.data());
  }
  const auto tokenizer = trireme::tokenizer::Tokenizer::from_checkpoint(checkpoint);
  if (!tokenizer) return;
  const auto ids = (*tokenizer)->encode("The rowers' 12 oars\n  dip \xE4\xB8\xAD\xF0\x9F\x98\x80 <s>");
  if (ids) static_cast<void>((*tokenizer)->decode(*ids));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = ::memfd_create("fuzz.gguf", 0);
  TRIREME_CHECK(file >= 0 && ::write(file, data, size) == static_cast<::ssize_t>(size));
  {
    const auto checkpoint = Checkpoint::open("/proc/self/fd/" + std::to_string(file));
    if (checkpoint) read(**checkpoint);
  }
  ::close(file);
  return 0;
}
