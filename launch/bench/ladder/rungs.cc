#include "launch/bench/ladder/rungs.h"

#include <algorithm>
#include <utility>

#include "base/dtype.h"
#include "runtime/config/weights_names.h"

namespace trireme::launch {
namespace {

using config::Config;

// What all rungs have in common, and the first one has nothing beyond.
Config baseline(const LadderSetting& setting) {
  Config config = setting.config;
  config.model.weights = config::Weights::kF32;
  config.model.max_context = longest_sequence(setting.workload);
  config.device.threads = setting.threads_of_host;
  config.pipeline.replicas = 1;
  config.pipeline.split.clear();
  config.kv_cache.key = config.kv_cache.value = base::DType::kF32;
  config.kv_cache.prefix_cache = false;
  config.server.response_cache_entries = 0;
  return config;
}

// The chunks and formats that the user asks for, in the memory that was reserved before unless the user says how much.
void use_chunks(const LadderSetting& setting, const FullLengthCache& cache, Config& config) {
  const std::int64_t wanted = setting.config.kv_cache.memory_bytes;
  config.kv_cache = setting.config.kv_cache;
  config.kv_cache.prefix_cache = false;
  config.kv_cache.memory_bytes = wanted > 0 ? wanted : cache.bytes(setting.max_batch);
  config.scheduler.average_tokens = average_sequence(setting.workload);
}

// Every stage has its share of the layers, and of the memory.
void use_all_ranks(const LadderSetting& setting, Config& config) {
  config.device.threads = setting.config.device.threads;
  config.pipeline = setting.config.pipeline;
  const std::int32_t replicas = std::max(1, setting.config.pipeline.replicas);
  if (setting.config.kv_cache.memory_bytes == 0) {
    config.kv_cache.memory_bytes /= std::max(1, setting.num_ranks / replicas);
  }
}

std::string cache_name(const config::KvCacheConfig& cache) {
  return std::string(base::to_string(cache.key)) + "/" + std::string(base::to_string(cache.value));
}

}  // namespace

std::vector<Rung> make_rungs(const LadderSetting& setting, const FullLengthCache& cache) {
  std::vector<Rung> rungs;
  Rung rung;
  rung.key = "baseline";
  rung.name = "f32, static batches, reserved FP32 cache";
  rung.config = baseline(setting);
  rung.changes_numerics = rung.reserves_full_length = true;
  rungs.push_back(rung);

  const config::Weights wanted = setting.config.model.weights;
  rung.key = "weights";
  rung.config.model.weights = wanted == config::Weights::kAuto ? config::Weights::kInt8 : wanted;
  rung.name = "+ " + std::string(config::to_string(rung.config.model.weights)) + " weights";
  rung.changes_numerics = rung.config.model.weights != config::Weights::kF32;
  rungs.push_back(rung);

  rung.key = "batching";
  rung.name = "+ dynamic batching";
  rung.batching = Batching::kDynamic;
  rung.changes_numerics = false;
  rungs.push_back(rung);

  rung.key = "cache";
  rung.name = "+ chunked " + cache_name(setting.config.kv_cache) + " cache";
  rung.reserves_full_length = false;
  use_chunks(setting, cache, rung.config);
  const config::KvCacheConfig& formats = rung.config.kv_cache;
  rung.changes_numerics = formats.key != base::DType::kF32 || formats.value != base::DType::kF32;
  rungs.push_back(rung);

  rung.key = "reuse";
  rung.name = "+ prefix and response reuse";
  rung.changes_numerics = false;
  rung.config.kv_cache.prefix_cache = true;
  rung.config.server.response_cache_entries = setting.config.server.response_cache_entries;
  rungs.push_back(rung);

  if (setting.num_ranks == 1) return rungs;
  rung.key = "ranks";
  rung.name = "+ " + std::to_string(setting.num_ranks) + " ranks";
  rung.ranks = RanksOfRung::kAll;
  use_all_ranks(setting, rung.config);
  rungs.push_back(std::move(rung));
  return rungs;
}

}  // namespace trireme::launch
