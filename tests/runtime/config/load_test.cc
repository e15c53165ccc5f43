#include "runtime/config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "runtime/config/print.h"

namespace trireme::config {
namespace {

using testing::ElementsAre;

base::Result<ResolvedConfig> load_text(const std::string& text) {
  return load({.file = ConfigFile{text, "test.yaml"}, .environment = {}, .overrides = {}});
}

TEST(Load, GivesDefaultsWhenNothingIsSet) {
  const base::Result<ResolvedConfig> loaded = load({});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_FALSE(first_difference(loaded->config, Config{}).has_value());
}

TEST(Load, ReadsEveryTypeOfValue) {
  const base::Result<ResolvedConfig> loaded = load_text(R"(
model: {path: "models/a \"b\".gguf", weights: bf16, max_context: 4K}
device:
  kind: reference
  pin_threads: false
pipeline:
  replicas: auto
  split: [10, 20]
kv_cache:
  memory_bytes: 16GiB   # per rank
  reserve: 0.1
failure: {hang_limit_ms: 30s}
)");
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Config& config = loaded->config;
  EXPECT_EQ(config.model.path, "models/a \"b\".gguf");
  EXPECT_EQ(config.model.weights, Weights::kBF16);
  EXPECT_EQ(config.model.max_context, 4096);
  EXPECT_EQ(config.device.kind, Device::kReference);
  EXPECT_FALSE(config.device.pin_threads);
  EXPECT_EQ(config.pipeline.replicas, 0);
  EXPECT_THAT(config.pipeline.split, ElementsAre(10, 20));
  EXPECT_EQ(config.kv_cache.memory_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(config.kv_cache.reserve, 0.1);
  EXPECT_EQ(config.failure.hang_limit_ms, 30'000);
}

TEST(Load, PrefersCommandLineToEnvironmentToFileToDefault) {
  ConfigSources sources;
  sources.file = ConfigFile{"scheduler: {max_step_tokens: 2, max_batch: 2, average_tokens: 2}", "test.yaml"};
  sources.environment = {{"TRIREME_SCHEDULER_MAX_BATCH", "3"}, {"TRIREME_SCHEDULER_AVERAGE_TOKENS", "3"}};
  sources.overrides = {{"scheduler.average_tokens", "9", "--scheduler.average_tokens"},
                       {"scheduler.average_tokens", "4", "--scheduler.average_tokens"}};
  const base::Result<ResolvedConfig> loaded = load(sources);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->config.scheduler.max_step_tokens, 2);
  EXPECT_EQ(loaded->config.scheduler.max_batch, 3);
  EXPECT_EQ(loaded->config.scheduler.average_tokens, 4);
  EXPECT_EQ(loaded->config.device.threads, 0);
}

using Refusal = std::tuple<const char*, const char*>;  // text of the file, message

class RefusedFile : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedFile, NamesPlaceKeyAndExpectation) {
  const auto& [text, message] = GetParam();
  const base::Result<ResolvedConfig> loaded = load_text(text);
  ASSERT_FALSE(loaded.ok()) << text;
  EXPECT_THAT(loaded.error().message, testing::HasSubstr(message)) << text;
  EXPECT_EQ(loaded.error().message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedFile,
    testing::Values(Refusal{"device:\n  thraeds: 2\n",
                            "test.yaml:2:3: unknown key 'thraeds' in section 'device' (did you mean 'threads')"},
                    Refusal{"devise:\n  threads: 2\n", "test.yaml:1:1: unknown key 'devise' (did you mean 'device')"},
                    Refusal{"model:\n  threads: 2\n",
                            "test.yaml:2:3: unknown key 'threads' in section 'model' (did you mean 'device.threads')"},
                    Refusal{"device:\n  threads: 2\n  threads: 3\n", "test.yaml:3:3: duplicate key 'threads'"},
                    Refusal{"device: {threads: 2}\nmodel: {}\ndevice: {kind: cpu}\n",
                            "test.yaml:3:1: duplicate section 'device'"},
                    Refusal{"threads: 2\n", "test.yaml:1:10: expected settings in section 'threads'"},
                    Refusal{"device:\n  ? [a]\n  : 1\n", "a list has no place here"}));

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedFile,
    testing::Values(Refusal{"device:\n  threads: many\n",
                            "test.yaml:2:12: device.threads 'many': expected a whole number"},
                    Refusal{"device: {threads: \"2\"}", "test.yaml:1:19: device.threads is text in quotes"},
                    Refusal{"device: {threads: [2]}", "device.threads is a list"},
                    Refusal{"device: {threads: {a: 1}}", "nested deeper"},
                    Refusal{"device: {threads: }", "device.threads has no value"},
                    Refusal{"device: {threads: ~}", "device.threads has no value"},
                    Refusal{"device: {threads: -1}", "device.threads '-1'"},
                    Refusal{"device: {threads: 0}", "must be 1 to 1024, or auto"},
                    Refusal{"device: {threads: 99999999999999999999}", "too large"},
                    Refusal{"device: {threads: 2.5}", "expected a whole number"},
                    Refusal{"device: {pin_threads: yes}", "expected true or false"},
                    Refusal{"device: {kind: gpu}", "expected cpu or reference"},
                    Refusal{"kv_cache: {reserve: .nan}", "expected a number"},
                    Refusal{"kv_cache: {reserve: .inf}", "expected a number"},
                    Refusal{"kv_cache: {reserve: 1.5}", "must be 0 to 0.95"},
                    Refusal{"kv_cache: {reserve: -0.1}", "must be 0 to 0.95"},
                    Refusal{"kv_cache: {chunk_bytes: 100000}", "a multiple of 64"},
                    Refusal{"kv_cache: {memory_bytes: 4096TiB}", "must be 1KiB to 1024TiB, or auto"},
                    Refusal{"kv_cache: {key: f16}", "expected fp32, fp16 or int8"},
                    Refusal{"pipeline: {split: [20, 10]}", "must be rising numbers"},
                    Refusal{"pipeline: {split: [0]}", "must be rising numbers"},
                    Refusal{"model: {adapters: [path]}", "must be NAME=PATH"},
                    Refusal{"model: {adapters: [\"a b=path\"]}", "must be NAME=PATH"},
                    Refusal{"model: {adapters: [a=]}", "must be NAME=PATH"},
                    Refusal{"model: {adapters: [a=x, a=y]}", "names the adapter 'a' twice"},
                    Refusal{"pipeline: {split: [[1]]}", "a list has no place here"},
                    Refusal{"pipeline: {split: [1, ~]}", "an item of the list is empty"},
                    Refusal{"model: {path: \"a\\0b\"}", "not UTF-8 text, or a control character"}));

TEST(Load, NamesTheVariableOfABadEnvironment) {
  const base::Result<ResolvedConfig> bad_value =
      load({.file = {}, .environment = {{"TRIREME_DEVICE_THREADS", "-4"}}, .overrides = {}});
  ASSERT_FALSE(bad_value.ok());
  EXPECT_THAT(bad_value.error().message, testing::StartsWith("TRIREME_DEVICE_THREADS: device.threads '-4': must be"));
  for (const char* variable : {"TRIREME_DEVICE_THREAD", "TRIREME_DEVIEC_THREADS", "TRIREME_KV_CACHE_FOO"}) {
    const base::Result<ResolvedConfig> unknown = load({.file = {}, .environment = {{variable, "1"}}, .overrides = {}});
    ASSERT_FALSE(unknown.ok()) << variable;
    EXPECT_THAT(unknown.error().message, testing::HasSubstr(std::string("unknown variable '") + variable + "'"));
  }
}

TEST(Load, LeavesVariablesOfOthersAlone) {
  const std::map<std::string, std::string> others = {
      {"TRIREME_ROOT", "/opt"}, {"TRIREME_TEST_MODELS", "/m"}, {"PATH", "/bin"}};
  EXPECT_TRUE(load({.file = {}, .environment = others, .overrides = {}}).ok());
}

TEST(Load, NamesTheFlagOfABadOverride) {
  const base::Result<ResolvedConfig> loaded =
      load({.file = {}, .environment = {}, .overrides = {{"model.weights", "int3", "--weights"}}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().message, "--weights: model.weights 'int3': expected auto, f32, f16, bf16, int8, q8 or q4");
}

}  // namespace
}  // namespace trireme::config
