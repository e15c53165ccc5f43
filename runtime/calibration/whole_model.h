// WholeModel: all layers of a model on one rank without a scheduler around them: one text at a time, as a whole, keys
// and values in float32. Owned by whoever calibrates or scores.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/ops.h"
#include "kernels/thread_pool.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/model_description.h"
#include "runtime/model/stage_model.h"
#include "runtime/model/weight_plan.h"

namespace trireme::calibration {

using Tokens = std::vector<std::int32_t>;

// What a model is computed with. All outlive the model.
struct Machine {
  kernels::Ops& ops;
  kernels::ThreadPool& pool;
};

class WholeModel {
 public:
  // Loads every matrix in the format that `choose` gives it. Texts have at most max_tokens. References outlive the
  // result.
  static base::Result<std::unique_ptr<WholeModel>> load(const checkpoint::Checkpoint& checkpoint,
                                                        const model::ModelDescription& description,
                                                        const model::FormatChooser& choose, const Machine& machine,
                                                        std::int32_t max_tokens);

  const model::ModelDescription& description() const { return description_; }
  const model::StageWeights& weights() const { return *weights_; }

  // Hidden states are [tokens.size(), hidden_size].
  std::vector<float> embed(const Tokens& tokens);
  // hidden after the layers [begin, end). Layers from `begin` on see keys and values of this text alone.
  void run_layers(std::int32_t begin, std::int32_t end, const Tokens& tokens, std::vector<float>& hidden);
  // The logits of rows [first_row, first_row + num_rows) into `logits`, [num_rows, vocab_size].
  void logits(const std::vector<float>& hidden, std::int32_t first_row, std::int32_t num_rows,
              std::vector<float>& logits);

 private:
  explicit WholeModel(const model::ModelDescription& description) : description_(description) {}
  model::StepInput step(const Tokens& tokens) const;

  const model::ModelDescription& description_;
  std::unique_ptr<kv_cache::KvCache> cache_;
  const model::StageWeights* weights_ = nullptr;  // stage_'s
  std::unique_ptr<model::StageModel> stage_;
  std::vector<std::int32_t> blocks_;
};

}  // namespace trireme::calibration
