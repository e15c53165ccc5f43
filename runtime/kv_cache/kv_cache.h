// KvCache: the chunk storage of one stage's layers. It holds memory and knows addresses; who uses which block is
// decided by the scheduler on rank 0. A block id of a layer group stands for one chunk per KV head in each layer of
// that group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/kv_layer_view.h"
#include "kernels/ops.h"

namespace trireme::kv_cache {

struct KvCacheShape {
  kernels::KvChunkLayout layout;
  std::int64_t chunk_bytes = 0;
  std::int32_t num_kv_heads = 0;
  std::vector<std::int32_t> layer_group;  // group of each of this stage's layers, in order
  std::vector<std::int32_t> num_blocks;   // per group
};

// Not thread-safe: the stage's compute thread alone uses it. Storage of a group:
// [num_blocks, layers of the group, num_kv_heads, chunk_bytes], reserved at once and touched only when used.
class KvCache {
 public:
  // Throws std::bad_alloc if the pool cannot be reserved.
  explicit KvCache(KvCacheShape shape);

  // `layer`: index among this stage's layers.
  kernels::KvLayerView layer_view(std::int32_t layer);
  std::int32_t group_of_layer(std::int32_t layer) const { return shape_.layer_group[static_cast<std::size_t>(layer)]; }
  std::int32_t num_groups() const { return static_cast<std::int32_t>(shape_.num_blocks.size()); }
  std::int32_t num_blocks(std::int32_t group) const { return shape_.num_blocks[static_cast<std::size_t>(group)]; }
  std::int32_t block_tokens() const { return shape_.layout.block_tokens; }

  // Copies a whole block's chunks in all layers of the group.
  void copy_block(std::int32_t group, std::int32_t source, std::int32_t target);

  std::int64_t bytes() const;

 private:
  std::int64_t block_bytes(std::int32_t group) const;

  KvCacheShape shape_;
  std::vector<std::int32_t> layer_in_group_;   // position of each layer within its group
  std::vector<std::int32_t> layers_of_group_;  // number of layers
  std::vector<base::AlignedBuffer<std::byte>> pools_;
};

}  // namespace trireme::kv_cache
