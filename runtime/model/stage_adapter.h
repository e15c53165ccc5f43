// StageAdapter: one stage's part of a low-rank adapter, packed for the kernels in float32. LowRankUpdates applies them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/aligned_buffer.h"
#include "base/result.h"
#include "base/stream.h"
#include "kernels/ops.h"
#include "kernels/packed_matrix.h"
#include "runtime/model/adapter_description.h"
#include "runtime/model/stage_sources.h"

namespace trireme::model {

struct AdapterMatrices {
  kernels::PackedMatrixView a, b;  // b holds the adapter's scale
  std::int64_t first_output = 0;
};

struct StageAdapter {
  using Layer = std::array<std::vector<AdapterMatrices>, kNumLinearSlots>;
  std::vector<Layer> layers;  // of the stage
  std::int64_t rank = 0;
  base::AlignedBuffer<std::byte> memory;  // backs the views
};

// Reads the part of layers [begin_layer, end_layer). Error: a value that is not finite.
base::Result<StageAdapter> load_stage_adapter(const checkpoint::Checkpoint& adapter,
                                              const AdapterDescription& description, const StageSpec& stage);

// Rows of a step that run with an adapter.
struct AdapterRows {
  std::int64_t first_row = 0;
  std::int64_t num_rows = 0;
  std::size_t adapter = 0;  // index into the stage's adapters
};

// A Linear of the stage's layers.
struct LinearPlace {
  std::int32_t layer = 0;  // counted from the stage's first
  LinearSlot slot = LinearSlot::kQkv;
};

class LowRankUpdates {
 public:
  // `ops` outlives this object.
  LowRankUpdates(std::vector<StageAdapter> adapters, kernels::Ops& ops);

  // What a Linear read and wrote: both row-major with a stride.
  struct Activations {
    const float* input = nullptr;
    std::int64_t input_stride = 0;
    float* output = nullptr;
    std::int64_t output_stride = 0;
  };
  // output += B(A input) in the rows of each adapter; no other row is touched. A row's bits depend on itself alone.
  void apply(LinearPlace place, std::span<const AdapterRows> rows, const Activations& activations, base::Stream stream);

 private:
  void reserve(std::int64_t num_rows);

  std::vector<StageAdapter> adapters_;
  kernels::Ops& ops_;
  std::int64_t max_rank_ = 0;
  base::AlignedBuffer<float> inner_;  // [num_rows, max_rank]
};

}  // namespace trireme::model
