#include "runtime/kv_cache/kv_cache.h"

#include <cstring>

#include "base/check.h"

namespace trireme::kv_cache {

KvCache::KvCache(KvCacheShape shape) : shape_(std::move(shape)) {
  layers_of_group_.resize(shape_.num_blocks.size());
  for (const std::int32_t group : shape_.layer_group) {
    TRIREME_CHECK(group >= 0 && group < num_groups()) << "group " << group;
    layer_in_group_.push_back(layers_of_group_[static_cast<std::size_t>(group)]++);
  }
  for (std::int32_t group = 0; group < num_groups(); ++group) {
    const std::int64_t bytes = num_blocks(group) * block_bytes(group);
    pools_.emplace_back(static_cast<std::size_t>(bytes > 0 ? bytes + kernels::kKvReadSlack : 0));
    // A block is one contiguous run, and blocks are handed out side by side: little of a huge page stays unused.
    pools_.back().prefer_huge_pages();
  }
}

std::int64_t KvCache::block_bytes(std::int32_t group) const {
  return std::int64_t{layers_of_group_[static_cast<std::size_t>(group)]} * shape_.num_kv_heads * shape_.chunk_bytes;
}

kernels::KvLayerView KvCache::layer_view(std::int32_t layer) {
  const std::int32_t group = group_of_layer(layer);
  kernels::KvLayerView view;
  view.layout = shape_.layout;
  view.num_kv_heads = shape_.num_kv_heads;
  view.head_stride_bytes = shape_.chunk_bytes;
  view.block_stride_bytes = block_bytes(group);
  view.base = pools_[static_cast<std::size_t>(group)].data() +
              std::int64_t{layer_in_group_[static_cast<std::size_t>(layer)]} * shape_.num_kv_heads * shape_.chunk_bytes;
  return view;
}

void KvCache::copy_block(std::int32_t group, std::int32_t source, std::int32_t target) {
  TRIREME_CHECK(source >= 0 && source < num_blocks(group)) << source;
  TRIREME_CHECK(target >= 0 && target < num_blocks(group) && target != source) << target;
  const std::int64_t bytes = block_bytes(group);
  std::byte* pool = pools_[static_cast<std::size_t>(group)].data();
  if (bytes > 0) std::memcpy(pool + target * bytes, pool + source * bytes, static_cast<std::size_t>(bytes));
}

std::int64_t KvCache::bytes() const {
  std::int64_t total = 0;
  for (std::int32_t group = 0; group < num_groups(); ++group) total += num_blocks(group) * block_bytes(group);
  return total;
}

}  // namespace trireme::kv_cache
