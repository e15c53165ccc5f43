#include "tests/runtime/model/single_stage.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include "runtime/kv_cache/chunk_layout.h"
#include "runtime/model/architecture.h"

namespace trireme::test {
namespace {

template <typename T>
T value_of(base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(result).value();
}

}  // namespace

SingleStage::SingleStage(const std::filesystem::path& path, const std::string& ops, std::int32_t block_tokens) {
  checkpoint_ = value_of(checkpoint::Checkpoint::open(path));
  description_ = value_of(model::describe_model(*checkpoint_));
  const auto set = kernels::instruction_set_from_string(ops);
  ops_ = set ? kernels::make_cpu_ops(*set, pool_) : kernels::make_reference_ops();
  const model::StageSpec all{0, description_.num_layers(), true, true};
  kv_cache::KvCacheShape shape;
  const kv_cache::ChunkOptions options{16384, block_tokens, base::DType::kF32, base::DType::kF32};
  shape.layout = value_of(kv_cache::make_chunk_layout(options, description_.head_dim));
  shape.chunk_bytes = options.chunk_bytes;
  shape.num_kv_heads = description_.num_kv_heads;
  shape.layer_group.assign(description_.layers.size(), 0);
  shape.num_blocks = {kNumBlocks};
  cache_ = std::make_unique<kv_cache::KvCache>(shape);
  auto weights = value_of(model::load_stage_weights(*checkpoint_, description_, all, config::Weights::kF32, pool_));
  model_ = std::make_unique<model::StageModel>(description_, all, std::move(weights), *ops_, *cache_);
  for (std::int32_t block = 0; block < kNumBlocks; ++block) blocks_.push_back(kNumBlocks - 1 - block);
}

std::vector<float> SingleStage::last_logits(const std::vector<std::int32_t>& prompt, std::size_t chunk) {
  std::vector<float> hidden, logits(static_cast<std::size_t>(description_.vocab_size));
  for (std::size_t begin = 0; begin < prompt.size(); begin += chunk) {
    const std::size_t end = std::min(begin + chunk, prompt.size());
    const model::StepInput input = step(prompt, begin, end);
    hidden.assign((end - begin) * static_cast<std::size_t>(description_.hidden_size), 0.0f);
    model_->embed(input, hidden.data(), {});
    model_->forward(input, hidden.data(), {});
    const auto last = static_cast<std::int32_t>(end - begin - 1);
    model_->logits(hidden.data(), std::span(&last, 1), logits.data(), {});
  }
  return logits;
}

model::StepInput SingleStage::step(const std::vector<std::int32_t>& prompt, std::size_t begin, std::size_t end) const {
  model::StepInput input;
  input.groups.resize(1);
  const std::int64_t block_tokens = cache_->block_tokens();
  for (std::size_t i = begin; i < end; ++i) {
    const auto position = static_cast<std::int64_t>(i);
    input.token_ids.push_back(prompt[i]);
    input.positions.push_back(static_cast<std::int32_t>(i));
    const std::int64_t block = blocks_[static_cast<std::size_t>(position / block_tokens)];
    input.groups[0].slots.push_back(block * block_tokens + position % block_tokens);
  }
  const auto first = static_cast<std::int64_t>(begin);
  input.groups[0].sequences = {{0, static_cast<std::int64_t>(end - begin), first, blocks_.data()}};
  return input;
}

}  // namespace trireme::test
