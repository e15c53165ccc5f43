#include "runtime/checkpoint/split_row.h"

#include "base/check.h"
#include "runtime/checkpoint/blocks.h"

namespace trireme::checkpoint {
namespace {

template <typename Block>
void split_blocks(const TensorInfo& tensor, std::int64_t row, std::int32_t zero, SplitRow& result) {
  const auto num_blocks = static_cast<std::size_t>(tensor.row_size() / kBlockSize);
  const std::byte* blocks = tensor.data + static_cast<std::size_t>(row) * num_blocks * sizeof(Block);
  result.scales.resize(num_blocks);
  result.minimums.clear();
  result.quants.resize(num_blocks * kBlockSize);
  for (std::size_t b = 0; b < num_blocks; ++b) {
    Block block;
    std::memcpy(&block, blocks + b * sizeof(Block), sizeof(Block));
    result.scales[b] = block.d;
    if constexpr (requires { block.m; }) result.minimums.push_back(block.m);
    std::int32_t quants[kBlockSize];
    unpack_quants(block, quants);
    for (std::size_t j = 0; j < kBlockSize; ++j) {
      result.quants[b * kBlockSize + j] = static_cast<std::int8_t>(quants[j] - zero);
    }
  }
}

}  // namespace

bool can_split(TensorType type) {
  return type == TensorType::kQ8_0 || type == TensorType::kQ4_0 || type == TensorType::kQ5_0 ||
         type == TensorType::kQ4_1;
}

void split_row(const TensorInfo& tensor, std::int64_t row, SplitRow& result) {
  TRIREME_CHECK(0 <= row && row < tensor.num_rows()) << tensor.name << " row " << row << " of " << tensor.num_rows();
  switch (tensor.type) {
    case TensorType::kQ8_0: return split_blocks<BlockQ8_0>(tensor, row, 0, result);
    case TensorType::kQ4_0: return split_blocks<BlockQ4_0>(tensor, row, 8, result);
    case TensorType::kQ5_0: return split_blocks<BlockQ5_0>(tensor, row, 16, result);
    case TensorType::kQ4_1: return split_blocks<BlockQ4_1>(tensor, row, 0, result);
    default: TRIREME_CHECK(false) << "tensor type " << to_string(tensor.type);
  }
}

}  // namespace trireme::checkpoint
