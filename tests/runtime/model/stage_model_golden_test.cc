// The forward pass against golden logits, one stage, whole prompts and chunks of it.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu_ops.h"
#include "runtime/kv_cache/chunk_layout.h"
#include "runtime/model/architecture.h"
#include "runtime/model/stage_model.h"
#include "tests/support/golden.h"

namespace trireme::model {
namespace {

constexpr float kTolerance = 2e-3f;

struct Variant {
  std::string model;
  std::string ops;  // "reference" or an instruction set
  std::int32_t block_tokens;
};

std::vector<Variant> variants() {
  std::vector<std::string> ops = {"reference"};
  for (const auto set : kernels::available_instruction_sets()) ops.emplace_back(kernels::to_string(set));
  std::vector<Variant> all;
  for (const std::string& model : test::golden_decoders()) {
    for (const std::string& name : ops) {
      for (const std::int32_t block_tokens : {0, 8}) all.push_back({model, name, block_tokens});
    }
  }
  return all;
}

class StageModelGoldenTest : public testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    checkpoint_ = checkpoint::Checkpoint::open(test::golden_model(GetParam().model)).value();
    description_ = describe_model(*checkpoint_).value();
    const auto set = kernels::instruction_set_from_string(GetParam().ops);
    ops_ = set ? kernels::make_cpu_ops(*set, pool_) : kernels::make_reference_ops();
    const StageSpec all{0, description_.num_layers(), true, true};
    kv_cache::KvCacheShape shape;
    const kv_cache::ChunkOptions options{16384, GetParam().block_tokens, base::DType::kF32, base::DType::kF32};
    shape.layout = kv_cache::make_chunk_layout(options, description_.head_dim).value();
    shape.chunk_bytes = options.chunk_bytes;
    shape.num_kv_heads = description_.num_kv_heads;
    shape.layer_group.assign(description_.layers.size(), 0);
    shape.num_blocks = {64};
    cache_ = std::make_unique<kv_cache::KvCache>(shape);
    auto weights = load_stage_weights(*checkpoint_, description_, all, base::DType::kF32, pool_);
    ASSERT_TRUE(weights.ok()) << weights.error().message;
    model_ = std::make_unique<StageModel>(description_, all, std::move(weights).value(), *ops_, *cache_);
    for (std::int32_t block = 0; block < 64; ++block) blocks_.push_back(63 - block);
  }

  // Logits of the last position, computed in chunks of `chunk` tokens.
  std::vector<float> last_logits(const std::vector<std::int32_t>& prompt, std::size_t chunk) {
    std::vector<float> hidden, logits(static_cast<std::size_t>(description_.vocab_size));
    for (std::size_t begin = 0; begin < prompt.size(); begin += chunk) {
      const std::size_t end = std::min(begin + chunk, prompt.size());
      const StepInput input = step(prompt, begin, end);
      hidden.assign((end - begin) * static_cast<std::size_t>(description_.hidden_size), 0.0f);
      model_->embed(input, hidden.data(), {});
      model_->forward(input, hidden.data(), {});
      const auto last = static_cast<std::int32_t>(end - begin - 1);
      model_->logits(hidden.data(), std::span(&last, 1), logits.data(), {});
    }
    return logits;
  }

  StepInput step(const std::vector<std::int32_t>& prompt, std::size_t begin, std::size_t end) const {
    StepInput input;
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

  kernels::ThreadPool pool_{2};
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  ModelDescription description_;
  std::unique_ptr<kernels::Ops> ops_;
  std::unique_ptr<kv_cache::KvCache> cache_;
  std::unique_ptr<StageModel> model_;
  std::vector<std::int32_t> blocks_;
};

TEST_P(StageModelGoldenTest, GivesTheGoldenLogits) {
  for (const test::GoldenCase& golden : test::golden_cases(GetParam().model)) {
    const std::vector<float> logits = last_logits(golden.prompt_ids, golden.prompt_ids.size());
    ASSERT_EQ(logits.size(), golden.last_logits.size());
    for (std::size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], golden.last_logits[i], kTolerance)
          << "prompt of " << golden.prompt_ids.size() << ", token " << i;
    }
  }
}

TEST_P(StageModelGoldenTest, ChunksOfAPromptChangeNoBit) {
  if (GetParam().ops == "reference") GTEST_SKIP() << "bit equality is a promise of the CPU back end's kernels alone";
  for (const test::GoldenCase& golden : test::golden_cases(GetParam().model)) {
    const std::vector<float> whole = last_logits(golden.prompt_ids, golden.prompt_ids.size());
    for (const std::size_t chunk : {1, 3, 16}) EXPECT_EQ(last_logits(golden.prompt_ids, chunk), whole) << chunk;
  }
}

std::string variant_name(const testing::TestParamInfo<Variant>& info) {
  std::string name = info.param.model + "_" + info.param.ops + "_block" + std::to_string(info.param.block_tokens);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Models, StageModelGoldenTest, testing::ValuesIn(variants()), variant_name);

}  // namespace
}  // namespace trireme::model
