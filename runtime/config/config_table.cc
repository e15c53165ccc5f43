#include "runtime/config/config_table.h"

#include <algorithm>
#include <cctype>

#include "runtime/config/server_settings.h"
#include "runtime/config/setting_builders.h"
#include "runtime/config/weights_names.h"

namespace trireme::config {
namespace {

using base::DType;
using Choices = std::vector<std::pair<std::string, DType>>;

constexpr std::int64_t kMaxTokens = 1 << 24;
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;

bool is_adapter_name(std::string_view name) {
  constexpr std::size_t kMaxLength = 128;
  return !name.empty() && name.size() <= kMaxLength && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

base::Result<std::vector<Adapter>> parse_adapters(std::string_view text) {
  std::vector<Adapter> adapters;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t sign = item.find('=');
    if (sign == std::string_view::npos || sign + 1 == item.size() || !is_adapter_name(item.substr(0, sign))) {
      return base::invalid_argument("must be NAME=PATH, with letters, digits, '_', '-' and '.' in the name");
    }
    adapters.push_back({std::string(item.substr(0, sign)), std::string(item.substr(sign + 1))});
    const auto same_name = [&](const Adapter& other) { return other.name == adapters.back().name; };
    if (std::ranges::count_if(adapters, same_name) > 1) {
      return base::invalid_argument("names the adapter '" + adapters.back().name + "' twice");
    }
  }
  return adapters;
}

Setting adapters_setting() {
  Setting adapters = describe({"model", "adapters", "--adapter", "low-rank adapters (PEFT directories) for requests"},
                              ValueType::kTextList, "", "NAME=PATH; may be given several times");
  adapters.parse = [](Config& config, std::string_view text) -> base::Status {
    auto parsed = parse_adapters(text);
    if (!parsed) return parsed.error();
    config.model.adapters = std::move(*parsed);
    return base::ok_status();
  };
  adapters.format = [](const Config& config) {
    std::string text;
    for (const Adapter& adapter : config.model.adapters) {
      text += (text.empty() ? "" : ",") + adapter.name + "=" + adapter.path;
    }
    return text;
  };
  return adapters;
}

std::vector<Setting> model_settings() {
  return {
      text(
          {"model", "path", "--model", "GGUF file, Hugging Face directory, or what 'trireme convert' wrote"},
          [](auto& config) -> auto& { return config.model.path; }, "a path"),
      choice(
          {"model", "weights", "--weights",
           "how weights are kept in memory; auto: quantised files as they are, else q8"},
          [](auto& config) -> auto& { return config.model.weights; },
          std::vector<std::pair<std::string, Weights>>(std::begin(kWeightsNames), std::end(kWeightsNames))),
      whole_number({"model", "max_context", "--max-context",
                    "longest sequence; auto: the model's own limit, lowered to what the KV pool holds"},
                   [](auto& config) -> auto& { return config.model.max_context; },
                   {.unit_name = "tokens", .min = 1, .max = kMaxTokens, .or_auto = true}),
      adapters_setting(),
  };
}

std::vector<Setting> device_settings() {
  return {
      choice(
          {"device", "kind", "--device", "what computes: SIMD kernels, or the scalar reference (slow)"},
          [](auto& config) -> auto& { return config.device.kind; },
          std::vector<std::pair<std::string, Device>>{{"cpu", Device::kCpu}, {"reference", Device::kReference}}),
      whole_number({"device", "threads", "--threads", "threads per rank; auto: this rank's share of the host's cores"},
                   [](auto& config) -> auto& { return config.device.threads; },
                   {.unit_name = "threads", .min = 1, .max = 1024, .or_auto = true}),
      boolean(
          {"device", "pin_threads", "", "bind each thread to a core of its own"},
          [](auto& config) -> auto& { return config.device.pin_threads; }),
      choice(
          {"device", "instruction_set", "", "the widest SIMD instruction set to use"},
          [](auto& config) -> auto& { return config.device.instruction_set; },
          std::vector<std::pair<std::string, std::string>>{{"auto", "auto"},
                                                           {"avx2", "avx2"},
                                                           {"avx2_vnni", "avx2_vnni"},
                                                           {"avx512", "avx512"},
                                                           {"avx512_vnni", "avx512_vnni"},
                                                           {"amx", "amx"}}),
  };
}

std::vector<Setting> pipeline_settings() {
  return {
      whole_number({"pipeline", "replicas", "--replicas",
                    "pipelines that the ranks form; auto: as many as the memory of the ranks allows"},
                   [](auto& config) -> auto& { return config.pipeline.replicas; },
                   {.unit_name = "replicas", .min = 1, .max = 65536, .or_auto = true}),
      rising_list(
          {"pipeline", "split", "--split", "first layer of stages 1, 2, …; empty: stages of equal estimated cost"},
          [](auto& config) -> auto& { return config.pipeline.split; }, "layers", 65535),
      whole_number(
          {"pipeline", "plans_in_flight", "", "steps under way at once; auto: one per stage; at most two per stage"},
          [](auto& config) -> auto& { return config.pipeline.plans_in_flight; },
          {.unit_name = "plans", .min = 1, .max = 1024, .or_auto = true}),
  };
}

std::vector<Setting> kv_cache_settings() {
  return {
      whole_number({"kv_cache", "chunk_bytes", "", "one chunk: a run of tokens of one layer and KV head"},
                   [](auto& config) -> auto& { return config.kv_cache.chunk_bytes; },
                   {.unit = Unit::kBytes, .unit_name = "bytes", .min = 1024, .max = 16 << 20, .multiple_of = 64}),
      whole_number(
          {"kv_cache", "block_tokens", "", "tokens per block; auto: the largest multiple of 4 that fits a chunk"},
          [](auto& config) -> auto& { return config.kv_cache.block_tokens; },
          {.unit_name = "tokens", .min = 4, .max = 65536, .or_auto = true, .multiple_of = 4}),
      choice(
          {"kv_cache", "key", "--kv-key", "how keys are kept"},
          [](auto& config) -> auto& { return config.kv_cache.key; },
          Choices{{"fp32", DType::kF32}, {"fp16", DType::kF16}, {"int8", DType::kI8}}),
      choice(
          {"kv_cache", "value", "--kv-value", "how values are kept"},
          [](auto& config) -> auto& { return config.kv_cache.value; },
          Choices{{"fp32", DType::kF32}, {"fp16", DType::kF16}, {"int8", DType::kI8}}),
      whole_number(
          {"kv_cache", "memory_bytes", "--kv-memory", "KV pool of each rank; auto: what weights and reserve leave"},
          [](auto& config) -> auto& { return config.kv_cache.memory_bytes; },
          {.unit = Unit::kBytes, .unit_name = "bytes", .min = 1024, .max = kMaxBytes, .or_auto = true}),
      real_number(
          {"kv_cache", "reserve", "--reserve", "share of the memory that is left alone"},
          [](auto& config) -> auto& { return config.kv_cache.reserve; }, 0.0, 0.95),
      boolean(
          {"kv_cache", "prefix_cache", "", "share the blocks of equal beginnings of prompts"},
          [](auto& config) -> auto& { return config.kv_cache.prefix_cache; }),
  };
}

std::vector<Setting> step_settings() {
  return {
      whole_number({"scheduler", "max_step_tokens", "", "budget of one step, in tokens at the start of a context"},
                   [](auto& config) -> auto& { return config.scheduler.max_step_tokens; },
                   {.unit_name = "tokens", .min = 1, .max = 1 << 20}),
      whole_number({"scheduler", "prefill_chunk", "--prefill-chunk",
                    "prompt tokens that one step computes, within max_step_tokens; auto: measured at the start"},
                   [](auto& config) -> auto& { return config.scheduler.prefill_chunk; },
                   {.unit_name = "tokens", .min = 1, .max = 1 << 20, .or_auto = true}),
      whole_number(
          {"scheduler", "max_batch", "", "sequences that run at once; auto: from the memory and average_tokens"},
          [](auto& config) -> auto& { return config.scheduler.max_batch; },
          {.unit_name = "sequences", .min = 1, .max = 65536, .or_auto = true}),
      whole_number({"scheduler", "average_tokens", "", "expected length of a sequence, for max_batch: auto"},
                   [](auto& config) -> auto& { return config.scheduler.average_tokens; },
                   {.unit_name = "tokens", .min = 1, .max = kMaxTokens}),
  };
}

std::vector<Setting> batching_settings() {
  return {
      whole_number(
          {"scheduler", "gather_window_ms", "",
           "serve: a request waits for company at most so long, and not at all while nothing else can compute"},
          [](auto& config) -> auto& { return config.scheduler.gather_window_ms; },
          {.unit = Unit::kMilliseconds, .unit_name = "ms", .max = 60'000}),
      whole_number(
          {"scheduler", "mixed_prefill_tokens", "",
           "serve: prompt tokens in a step in which others decode, which bounds the time between their tokens; 0: no "
           "limit of its own"},
          [](auto& config) -> auto& { return config.scheduler.mixed_prefill_tokens; },
          {.unit_name = "tokens", .max = 1 << 20}),
      rising_list(
          {"scheduler", "bucket_bounds", "",
           "serve: prompt lengths that divide requests into buckets; empty: one bucket"},
          [](auto& config) -> auto& { return config.scheduler.bucket_bounds; }, "tokens", 1 << 24),
      whole_number({"scheduler", "bucket_cap", "",
                    "serve: sequences of one bucket that run while others wait; auto: half of max_batch"},
                   [](auto& config) -> auto& { return config.scheduler.bucket_cap; },
                   {.unit_name = "sequences", .min = 1, .max = 65536, .or_auto = true}),
      whole_number({"scheduler", "priority_ms", "", "waiting time that one step of priority is worth"},
                   [](auto& config) -> auto& { return config.scheduler.priority_ms; },
                   {.unit = Unit::kMilliseconds, .unit_name = "ms", .max = 3'600'000}),
  };
}

std::vector<Setting> failure_settings() {
  return {
      whole_number({"failure", "heartbeat_period_ms", "", "time between two signs of life of a rank"},
                   [](auto& config) -> auto& { return config.failure.heartbeat_period_ms; },
                   {.unit = Unit::kMilliseconds, .unit_name = "ms", .min = 10, .max = 60'000}),
      whole_number({"failure", "max_missed_beats", "", "silent periods after which a rank counts as dead"},
                   [](auto& config) -> auto& { return config.failure.max_missed_beats; },
                   {.unit_name = "periods", .min = 1, .max = 1000}),
      whole_number(
          {"failure", "hang_limit_ms", "", "time without progress on a plan after which a rank counts as hung"},
          [](auto& config) -> auto& { return config.failure.hang_limit_ms; },
          {.unit = Unit::kMilliseconds, .unit_name = "ms", .min = 100, .max = 3'600'000}),
  };
}

}  // namespace

std::string Setting::environment_name() const {
  std::string text = "TRIREME_" + section + "_" + name;
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::vector<Setting> config_table() {
  std::vector<Setting> table;
  for (std::vector<Setting> (*section)() :
       {model_settings, device_settings, pipeline_settings, kv_cache_settings, step_settings, batching_settings,
        server_address_settings, server_limit_settings, server_memory_settings, failure_settings}) {
    for (Setting& setting : section()) table.push_back(std::move(setting));
  }
  return table;
}

}  // namespace trireme::config
