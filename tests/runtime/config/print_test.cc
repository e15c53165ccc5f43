#include "runtime/config/print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace trireme::config {
namespace {

Config read_back(const std::string& text) {
  const base::Result<ResolvedConfig> loaded =
      load({.file = ConfigFile{text, "printed"}, .environment = {}, .overrides = {}});
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message) << "\n" << text;
  return loaded.ok() ? loaded->config : Config{};
}

ResolvedConfig unusual() {
  ConfigSources sources;
  sources.file =
      ConfigFile{"kv_cache: {reserve: 0.1, memory_bytes: 1000001}\nmodel: {path: \"a: \\\"#\\\\b\\\" ä\"}", "my.yaml"};
  sources.environment = {{"TRIREME_DEVICE_KIND", "reference"}};
  sources.overrides = {{"pipeline.split", "10,20", "--split"},
                       {"model.adapters", "a=one: #two,b-2=/x y", "--adapter"},
                       {"device.threads", "3", "--threads"}};
  base::Result<ResolvedConfig> loaded = load(sources);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
  return std::move(*loaded);
}

TEST(ToYaml, ReadsBackToTheSameConfiguration) {
  const ResolvedConfig resolved = unusual();
  for (const Config& config : {Config{}, resolved.config}) {
    EXPECT_EQ(to_yaml(read_back(to_yaml(config))), to_yaml(config));
    EXPECT_FALSE(first_difference(read_back(to_yaml(config)), config).has_value());
  }
}

TEST(AnnotatedYaml, ReadsBackToTheSameConfiguration) {
  const ResolvedConfig resolved = unusual();
  EXPECT_FALSE(first_difference(read_back(to_annotated_yaml(resolved)), resolved.config).has_value());
}

TEST(AnnotatedYaml, NamesTheOriginOfEachValue) {
  const std::string text = to_annotated_yaml(unusual());
  EXPECT_THAT(text, testing::ContainsRegex("  weights: auto +# default\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  reserve: 0\\.1 +# file my\\.yaml:1:21\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  kind: reference +# environment TRIREME_DEVICE_KIND\n"));
  EXPECT_THAT(text, testing::HasSubstr("  adapters: [\"a=one: #two\", \"b-2=/x y\"]"));
  EXPECT_THAT(text, testing::ContainsRegex("  split: \\[10, 20\\] +# command line --split\n"));
  EXPECT_THAT(text, testing::ContainsRegex("  max_context: auto +# default\n"));
}

TEST(FirstDifference, NamesTheKeyAndBothValues) {
  Config other;
  other.kv_cache.value = base::DType::kF16;
  other.scheduler.max_batch = 7;
  const std::optional<Difference> difference = first_difference(Config{}, other);
  ASSERT_TRUE(difference.has_value());
  EXPECT_EQ(difference->key, "kv_cache.value");
  EXPECT_EQ(difference->left, "int8");
  EXPECT_EQ(difference->right, "fp16");
  EXPECT_FALSE(first_difference(other, other).has_value());
}

// Does not compile when a struct gains a field: then add it to config_table.cc, and here.
TEST(Table, ReachesEveryFieldOfConfig) {
  const Config config;
  [[maybe_unused]] const auto& [path, weights, max_context, adapters] = config.model;
  [[maybe_unused]] const auto& [kind, threads, pin_threads, instruction_set] = config.device;
  [[maybe_unused]] const auto& [replicas, split, plans_in_flight] = config.pipeline;
  [[maybe_unused]] const auto& [chunk_bytes, block_tokens, key, value, memory_bytes, reserve, prefix_cache] =
      config.kv_cache;
  [[maybe_unused]] const auto& [max_step_tokens, prefill_chunk, max_batch, average_tokens, gather_window_ms,
                                mixed_prefill_tokens, bucket_bounds, bucket_cap, priority_ms] = config.scheduler;
  [[maybe_unused]] const auto& [host, http_port, thrift_port, model_names, api_keys, tls_certificate, tls_key,
                                max_connections, max_body_bytes, header_limit_ms, body_limit_ms, idle_limit_ms,
                                unpolled_limit_ms, write_limit_ms, workers, max_waiting, max_waiting_tokens,
                                stream_buffer_bytes, request_limit_ms, drain_limit_ms, response_cache_entries,
                                response_cache_bytes, max_dialogues, dialogue_idle_ms, metrics_compat_vllm] =
      config.server;
  [[maybe_unused]] const auto& [heartbeat_period_ms, max_missed_beats, hang_limit_ms] = config.failure;
  [[maybe_unused]] const auto& [model, device, pipeline, kv_cache, scheduler, server, failure] = config;
  std::map<std::string, int> num_settings;
  for (const Setting& setting : config_table()) ++num_settings[setting.section];
  const std::map<std::string, int> num_fields = {{"model", 4},     {"device", 4},  {"pipeline", 3}, {"kv_cache", 7},
                                                 {"scheduler", 9}, {"server", 25}, {"failure", 3}};
  EXPECT_EQ(num_settings, num_fields);
}

TEST(Table, KeysFlagsAndVariablesAreUnique) {
  std::set<std::string> spellings;
  for (const Setting& setting : config_table()) {
    EXPECT_TRUE(spellings.insert(setting.long_flag()).second) << setting.key();
    EXPECT_TRUE(spellings.insert(setting.environment_name()).second) << setting.key();
    if (setting.flag.empty()) continue;
    EXPECT_TRUE(spellings.insert(setting.flag).second) << setting.flag;
  }
}

}  // namespace
}  // namespace trireme::config
