// BenchReport: what `trireme bench` found, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launch/bench/generation_rates.h"
#include "launch/bench/model_costs.h"
#include "launch/bench/repetitions.h"

namespace trireme::launch {

struct LimitRepetitions {
  Repetitions read_gb_per_s, gemm_f32_gflops, gemm_int8_gops;

  bool measured() const { return read_gb_per_s.count() > 0; }
  MachineLimits medians() const;
};

struct DecodeFigures {
  std::int32_t batch = 0;
  Repetitions tokens_per_s;
  std::int64_t num_preemptions = 0;
  std::vector<engine::StageTotals> stages;  // over all repetitions
  double seconds = 0.0;                     // likewise
};

// Where and with what it was measured.
struct BenchSetting {
  std::string model, architecture, weights, key, value, kernels, cpu;
  std::int32_t ranks = 1, hosts = 1, replicas = 1, stages = 1, threads_per_rank = 1, limit_threads = 0;
  std::int32_t prompt = 0, context = 0, num_decoded = 0;
  std::string trireme_version, mpi_version;
  std::vector<std::string> gemm_libraries, missing_libraries;
};

struct BenchReport {
  BenchSetting setting;
  ModelCosts costs;
  LimitRepetitions limits;  // of one host
  Repetitions prefill_tokens_per_s;
  std::vector<DecodeFigures> decode;

  // What `hosts` hosts can do together, by the medians.
  MachineLimits total_limits() const;
};

std::string to_text(const BenchReport& report);
std::string to_json(const BenchReport& report);

}  // namespace trireme::launch
