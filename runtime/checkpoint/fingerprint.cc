#define XXH_INLINE_ALL
#include "runtime/checkpoint/fingerprint.h"

#include <xxhash.h>

#include <cstddef>
#include <memory>
#include <new>

namespace trireme::checkpoint {
namespace {

class Hasher {
 public:
  Hasher() : state_(XXH3_createState()) {
    if (state_ == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(state_.get());
  }
  void add(std::span<const std::byte> bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  void add(std::uint64_t value) { XXH3_64bits_update(state_.get(), &value, sizeof value); }
  std::uint64_t digest() const { return XXH3_64bits_digest(state_.get()); }

 private:
  struct Deleter {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Deleter> state_;
};

void add_samples(std::span<const std::byte> bytes, Hasher& hasher) {
  if (bytes.size() <= kSampledRuns * kSampledRunBytes) return hasher.add(bytes);
  const std::size_t stride = (bytes.size() - kSampledRunBytes) / (kSampledRuns - 1);
  for (std::size_t i = 0; i + 1 < kSampledRuns; ++i) hasher.add(bytes.subspan(i * stride, kSampledRunBytes));
  hasher.add(bytes.last(kSampledRunBytes));
}

}  // namespace

std::uint64_t compute_fingerprint(std::span<const FileHeader> headers, std::span<const TensorInfo> tensors) {
  Hasher hasher;
  for (const FileHeader& header : headers) {
    hasher.add(header.bytes.size());
    hasher.add(header.bytes);
    hasher.add(header.file_bytes);
  }
  for (const TensorInfo& tensor : tensors) add_samples({tensor.data, tensor.bytes}, hasher);
  return hasher.digest();
}

std::uint64_t compute_content_hash(std::span<const FileHeader> headers) {
  Hasher hasher;
  for (const FileHeader& header : headers) {
    hasher.add({header.bytes.data(), static_cast<std::size_t>(header.file_bytes)});
  }
  return hasher.digest();
}

}  // namespace trireme::checkpoint
