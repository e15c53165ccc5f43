// A small chunk pool for kernel tests. Unwritten slots hold not-a-number, so that a kernel that reads one is found out.
#pragma once

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "base/aligned_buffer.h"
#include "kernels/kv_layer_view.h"

namespace trireme::kernels {

struct CacheFormat {
  base::DType key = base::DType::kF16;
  base::DType value = base::DType::kI8;
  std::int32_t block_tokens = 8;
};

class TestCache {
 public:
  TestCache(const CacheFormat& format, std::int32_t head_dim, std::int32_t num_kv_heads, std::int64_t num_blocks)
      : num_blocks_(num_blocks) {
    KvChunkLayout& layout = view_.layout;
    layout = {format.key, format.value, format.block_tokens, head_dim, 0, 0, 0, 0};
    std::int32_t offset = 0;
    const auto place = [&](std::int32_t bytes_per_token) {
      const std::int32_t begin = offset;
      offset = (offset + bytes_per_token * format.block_tokens + 15) / 16 * 16;
      return begin;
    };
    layout.key_offset = place(head_dim * static_cast<std::int32_t>(base::size_bytes(format.key)));
    layout.value_offset = place(head_dim * static_cast<std::int32_t>(base::size_bytes(format.value)));
    layout.key_scale_offset = place(4);
    layout.value_scale_offset = place(4);
    view_.head_stride_bytes = offset + static_cast<std::int32_t>(kKvReadSlack);  // bytes that belong to nobody
    view_.block_stride_bytes = view_.head_stride_bytes * num_kv_heads;
    view_.num_kv_heads = num_kv_heads;
    memory_ = base::AlignedBuffer<std::byte>(static_cast<std::size_t>(view_.block_stride_bytes * num_blocks));
    std::memset(memory_.data(), 0xFF, memory_.size());
    view_.base = memory_.data();
  }

  const KvLayerView& view() const { return view_; }
  std::int64_t num_blocks() const { return num_blocks_; }
  base::AlignedBuffer<std::byte>& memory() { return memory_; }

  // The slot of each position of a sequence with that block table.
  std::vector<std::int64_t> slots(const std::vector<std::int32_t>& block_table, std::int64_t begin,
                                  std::int64_t end) const {
    std::vector<std::int64_t> result;
    for (std::int64_t p = begin; p < end; ++p) {
      const std::int64_t block = block_table[static_cast<std::size_t>(p / view_.layout.block_tokens)];
      result.push_back(block * view_.layout.block_tokens + p % view_.layout.block_tokens);
    }
    return result;
  }

 private:
  std::int64_t num_blocks_;
  KvLayerView view_;
  base::AlignedBuffer<std::byte> memory_;
};

}  // namespace trireme::kernels
