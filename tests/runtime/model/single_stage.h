// A whole model on one stage without a worker around it: prompts in, logits out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu_ops.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/stage_model.h"

namespace trireme::test {

class SingleStage {
 public:
  // `ops`: "reference" or an instruction set. Weights and cache in float32. Throws on a model that does not load.
  SingleStage(const std::filesystem::path& path, const std::string& ops, std::int32_t block_tokens = 0);

  // Logits of the last position, computed in chunks of `chunk` tokens.
  std::vector<float> last_logits(const std::vector<std::int32_t>& prompt, std::size_t chunk);

  const model::ModelDescription& description() const { return description_; }

 private:
  static constexpr std::int32_t kNumBlocks = 64;
  model::StepInput step(const std::vector<std::int32_t>& prompt, std::size_t begin, std::size_t end) const;

  kernels::ThreadPool pool_{2};
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  model::ModelDescription description_;
  std::unique_ptr<kernels::Ops> ops_;
  std::unique_ptr<kv_cache::KvCache> cache_;
  std::unique_ptr<model::StageModel> model_;
  std::vector<std::int32_t> blocks_;
};

}  // namespace trireme::test
