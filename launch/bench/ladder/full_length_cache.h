// FullLengthCache: a KV cache as it is without paging: each running sequence holds room for the longest that may come,
// from its first token on. Made of the same cache: one block is as long as a sequence.
#pragma once

#include <cstdint>

#include "runtime/config/config.h"
#include "runtime/model/model_description.h"

namespace trireme::launch {

class FullLengthCache {
 public:
  // Keys and values in float32. `max_tokens`: of one sequence.
  FullLengthCache(const model::ModelDescription& model, std::int32_t max_tokens);

  // Of so many sequences.
  std::int64_t bytes(std::int32_t num_sequences) const { return num_sequences * sequence_bytes_; }

  // Makes the cache of `config` such a one.
  void reserve(std::int32_t num_sequences, config::Config& config) const;

 private:
  std::int32_t block_tokens_ = 0;
  std::int64_t chunk_bytes_ = 0;
  std::int64_t sequence_bytes_ = 0;
};

}  // namespace trireme::launch
