#include "runtime/calibration/whole_model.h"

#include <numeric>

#include "base/check.h"
#include "runtime/kv_cache/chunk_layout.h"

namespace trireme::calibration {

base::Result<std::unique_ptr<WholeModel>> WholeModel::load(const checkpoint::Checkpoint& checkpoint,
                                                           const model::ModelDescription& description,
                                                           const model::FormatChooser& choose, const Machine& machine,
                                                           std::int32_t max_tokens) {
  constexpr std::int32_t kBlockTokens = 16;
  kv_cache::ChunkOptions options;
  options.block_tokens = kBlockTokens;
  options.key_type = options.value_type = base::DType::kF32;
  options.chunk_bytes = kBlockTokens * kv_cache::token_bytes(options, description.head_dim);
  const auto layout = kv_cache::make_chunk_layout(options, description.head_dim);
  if (!layout) return layout.error();
  const model::StageSpec all{0, description.num_layers(), true, true};
  auto weights = model::load_stage_weights(checkpoint, description, all, choose, machine.pool);
  if (!weights) return weights.error();

  std::unique_ptr<WholeModel> whole(new WholeModel(description));
  kv_cache::KvCacheShape shape;
  shape.layout = *layout;
  shape.chunk_bytes = options.chunk_bytes;
  shape.num_kv_heads = description.num_kv_heads;
  shape.layer_group.assign(description.layers.size(), 0);  // windows need no fewer blocks in a text this short
  shape.num_blocks = {(max_tokens + kBlockTokens - 1) / kBlockTokens};
  whole->blocks_.resize(static_cast<std::size_t>(shape.num_blocks.front()));
  std::iota(whole->blocks_.begin(), whole->blocks_.end(), 0);
  whole->cache_ = std::make_unique<kv_cache::KvCache>(std::move(shape));
  whole->weights_ = weights->get();
  whole->stage_ =
      std::make_unique<model::StageModel>(description, all, std::move(*weights), machine.ops, *whole->cache_);
  return whole;
}

model::StepInput WholeModel::step(const Tokens& tokens) const {
  const auto num_rows = static_cast<std::int64_t>(tokens.size());
  TRIREME_CHECK(num_rows <= std::int64_t{cache_->num_blocks(0)} * cache_->block_tokens());
  model::StepInput input;
  input.token_ids = tokens;
  input.positions.resize(tokens.size());
  std::iota(input.positions.begin(), input.positions.end(), 0);
  input.groups.resize(1);
  input.groups[0].slots.resize(tokens.size());
  std::iota(input.groups[0].slots.begin(), input.groups[0].slots.end(), 0);
  input.groups[0].sequences = {{0, num_rows, 0, blocks_.data()}};
  return input;
}

std::vector<float> WholeModel::embed(const Tokens& tokens) {
  std::vector<float> hidden(tokens.size() * static_cast<std::size_t>(description_.hidden_size));
  stage_->embed(step(tokens), hidden.data(), {});
  return hidden;
}

void WholeModel::run_layers(std::int32_t begin, std::int32_t end, const Tokens& tokens, std::vector<float>& hidden) {
  stage_->forward_layers(begin, end, step(tokens), hidden.data(), {});
}

void WholeModel::logits(const std::vector<float>& hidden, std::int32_t first_row, std::int32_t num_rows,
                        std::vector<float>& logits) {
  std::vector<std::int32_t> rows(static_cast<std::size_t>(num_rows));
  std::iota(rows.begin(), rows.end(), first_row);
  logits.resize(rows.size() * static_cast<std::size_t>(description_.vocab_size));
  stage_->logits(hidden.data(), rows, logits.data(), {});
}

}  // namespace trireme::calibration
