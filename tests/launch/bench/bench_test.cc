// The arithmetic of `trireme bench`: repetitions, what a token costs, bounds, and the report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/bench/bench_report.h"

namespace trireme::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

model::ModelDescription small_model() {
  model::ModelDescription model;
  model.vocab_size = 128;
  model.hidden_size = 32;
  model.intermediate_size = 32;
  model.num_heads = 2;
  model.num_kv_heads = 1;
  model.head_dim = 16;
  model.layers.resize(2);
  model.tied_head = true;
  return model;
}

Repetitions repetitions(std::initializer_list<double> values) {
  Repetitions result;
  for (const double value : values) result.add(value);
  return result;
}

TEST(RepetitionsTest, MedianAndRangeDoNotDependOnTheOrder) {
  const Repetitions values = repetitions({3.0, 9.0, 1.0, 4.0, 4.5});
  EXPECT_EQ(values.median(), 4.0);
  EXPECT_EQ(values.min(), 1.0);
  EXPECT_EQ(values.max(), 9.0);
  EXPECT_EQ(repetitions({1.0, 2.0}).median(), 2.0);
}

// Of the model with all weights in one format.
ModelCosts costs_in(const model::ModelDescription& model, kernels::WeightFormat format) {
  return model_costs(model, model::plan_weights(model, [format](const model::MatrixSource&) { return format; }));
}

TEST(ModelCostsTest, CountTwoOperationsPerWeightAndReadEachWeightOnce) {
  const model::ModelDescription model = small_model();
  // q, k, v: 64 rows of 32; output: 32 of 32; gate, up: 64 of 32; down: 32 of 32.
  const double layer = 64 * 32 + 32 * 32 + 64 * 32 + 32 * 32, head = 128 * 32;
  const ModelCosts costs = costs_in(model, kernels::WeightFormat::kF16);
  EXPECT_EQ(costs.layer_operations, 2 * 2 * layer);
  EXPECT_EQ(costs.head_operations, 2 * head);
  EXPECT_EQ(costs.weight_bytes, 2 * (2 * layer + head));  // the tied embedding counts once
  EXPECT_EQ(costs.prefill_operations(10), 10 * 2 * 2 * layer + 2 * head);
  EXPECT_EQ(costs.decode_operations(3), 3 * (2 * 2 * layer + 2 * head));
  EXPECT_FALSE(costs.integer_arithmetic);
  EXPECT_TRUE(costs_in(model, kernels::WeightFormat::kInt8).integer_arithmetic);
}

TEST(ModelCostsTest, AnEmbeddingOfItsOwnIsNotRead) {
  model::ModelDescription model = small_model();
  const double tied = costs_in(model, kernels::WeightFormat::kF32).weight_bytes;
  model.tied_head = false;
  EXPECT_EQ(costs_in(model, kernels::WeightFormat::kF32).weight_bytes, tied);
}

TEST(BoundTest, FewTokensAreBoundByMemoryAndManyByArithmetic) {
  const ModelCosts costs{60.0, 40.0, 50.0, false};
  const MachineLimits limits{100e-9, 1000e-9, 4000e-9};  // 100 bytes, 1000 float and 4000 integer operations a second
  const Bound one = decode_bound(costs, limits, 1);
  EXPECT_STREQ(one.by, "memory");
  EXPECT_DOUBLE_EQ(one.tokens_per_s, 2.0);
  const Bound many = decode_bound(costs, limits, 20);
  EXPECT_STREQ(many.by, "arithmetic");
  EXPECT_DOUBLE_EQ(many.tokens_per_s, 10.0);
  EXPECT_DOUBLE_EQ(prefill_bound(costs, limits, 100).tokens_per_s, 100 * 1000.0 / (100 * 60.0 + 40.0));
}

TEST(BoundTest, IntegerWeightsAreHeldAgainstTheIntegerRate) {
  const ModelCosts costs{60.0, 40.0, 50.0, true};
  EXPECT_DOUBLE_EQ(decode_bound(costs, {100e-9, 1000e-9, 4000e-9}, 100).tokens_per_s, 40.0);
  EXPECT_EQ(decode_bound(costs, {100e-9, 1000e-9, 0.0}, 100).tokens_per_s, 0.0);  // not known
}

BenchReport some_report() {
  BenchReport report;
  report.setting.model = "m.gguf";
  report.setting.weights = "f16";
  report.setting.prompt = 100;
  report.setting.context = 8;
  report.setting.num_decoded = 4;
  report.setting.limit_threads = 2;
  report.costs = {60e9, 40e9, 50e9, false};
  report.prefill_tokens_per_s = repetitions({10.0, 12.0, 11.0});
  DecodeFigures figures;
  figures.batch = 2;
  figures.tokens_per_s = repetitions({1.0, 3.0, 2.0});
  figures.stages = {{12, 48, 2'000'000, 1'000'000, 500'000, 500'000}};
  figures.seconds = 4.0;
  report.decode.push_back(figures);
  report.limits.read_gb_per_s = repetitions({90.0, 100.0, 110.0});
  report.limits.gemm_f32_gflops = repetitions({1000.0, 1000.0, 1500.0});
  report.limits.gemm_int8_gops = repetitions({0.0, 0.0, 0.0});
  return report;
}

TEST(BenchReportTest, JsonHoldsEveryFigureAndItsFraction) {
  const auto object = nlohmann::json::parse(to_json(some_report()));
  EXPECT_EQ(object["prefill"]["tokens"], 100);
  EXPECT_EQ(object["prefill"]["tokens_per_s"], 11.0);
  EXPECT_EQ(object["prefill"]["max"], 12.0);
  EXPECT_EQ(object["limits"]["read_gb_per_s"], 100.0);
  EXPECT_EQ(object["limits"]["gemm_f32_gflops"], 1000.0);
  EXPECT_EQ(object["limits"]["gemm_int8_gops"], 0.0);
  EXPECT_EQ(object["limits"]["max"]["gemm_f32_gflops"], 1500.0);
  const auto& decode = object["decode"][0];
  EXPECT_EQ(decode["batch"], 2);
  EXPECT_EQ(decode["tokens_per_s"], 2.0);
  EXPECT_EQ(decode["weights_gb_per_s"], 50.0);
  EXPECT_EQ(decode["bound_by"], "memory");
  EXPECT_DOUBLE_EQ(decode["of_limit"], 0.5);
  EXPECT_EQ(decode["stages"][0]["busy"], 0.5);
}

TEST(BenchReportTest, HostsAddUpTheirLimits) {
  BenchReport report = some_report();
  report.setting.hosts = 2;
  EXPECT_DOUBLE_EQ(nlohmann::json::parse(to_json(report))["decode"][0]["of_limit"], 0.25);
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["limits"]["read_gb_per_s"], 100.0);
}

TEST(BenchReportTest, WithoutLimitsThereAreNoFractions) {
  BenchReport report = some_report();
  report.limits = {};
  const auto object = nlohmann::json::parse(to_json(report));
  EXPECT_FALSE(object.contains("limits"));
  EXPECT_FALSE(object["decode"][0].contains("of_limit"));
  EXPECT_THAT(to_text(report), Not(HasSubstr("%")));
}

TEST(BenchReportTest, TextWarnsOfPreemptions) {
  BenchReport report = some_report();
  EXPECT_THAT(to_text(report), HasSubstr("50.0 % of 4 (memory)"));
  EXPECT_THAT(to_text(report), Not(HasSubstr("preemptions")));
  report.decode[0].num_preemptions = 3;
  EXPECT_THAT(to_text(report), HasSubstr("3 preemptions"));
}

}  // namespace
}  // namespace trireme::launch
