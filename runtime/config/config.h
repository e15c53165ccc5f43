// Config: every setting of the runtime, with its default. One name each, the same in YAML (section.key), on the command
// line (--section.key, with short spellings such as --threads) and in the environment (TRIREME_SECTION_KEY).
// Precedence: command line > environment > file > default. Plain data; configs/README.md explains each key.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace trireme::config {

enum class Device { kCpu, kReference };

// A low-rank adapter of the model: its name in requests, and its PEFT directory.
struct Adapter {
  std::string name, path;
  bool operator==(const Adapter&) const = default;
};

// How weights are kept in memory (what each means for a matrix: runtime/model/weight_plan.h).
enum class Weights { kAuto, kF32, kF16, kBF16, kInt8, kQ8, kQ4 };

struct ModelConfig {
  std::string path;                  // --model
  Weights weights = Weights::kAuto;  // --weights auto|f32|f16|bf16|int8|q8|q4
  std::int32_t max_context = 0;      // --max-context; 0: the model's own limit, lowered to what the KV pool holds
  std::vector<Adapter> adapters;     // --adapter NAME=PATH, several; a request's number counts them from 1
};

struct DeviceConfig {
  Device kind = Device::kCpu;            // --device cpu|reference
  std::int32_t threads = 0;              // --threads per rank; 0: this rank's share of the host's cores
  bool pin_threads = true;               // bind each thread to a core of its own
  std::string instruction_set = "auto";  // auto|avx2|avx2_vnni|avx512|avx512_vnni|amx: at most this one
};

struct PipelineConfig {
  std::int32_t replicas = 1;         // --replicas; 0 ("auto"): as many as the memory of the ranks allows
  std::vector<std::int32_t> split;   // --split 10,20: first layer of stages 1, 2, …; empty: by estimated cost
  std::int32_t plans_in_flight = 0;  // 0: one per stage; at most two per stage
};

struct KvCacheConfig {
  std::int64_t chunk_bytes = 16 * 1024;
  std::int32_t block_tokens = 0;         // 0: the largest multiple of 4 that fits a chunk
  base::DType key = base::DType::kF16;   // --kv-key fp32|fp16|int8
  base::DType value = base::DType::kI8;  // --kv-value fp32|fp16|int8
  std::int64_t memory_bytes = 0;         // --kv-memory per rank; 0: what is left of memory
  double reserve = 0.20;                 // --reserve: share of memory left alone
  bool prefix_cache = true;
};

struct SchedulerConfig {
  std::int32_t max_step_tokens = 512;  // a step's budget, in tokens at the start of a context
  std::int32_t prefill_chunk = 0;      // prompt tokens of a step, within that budget; 0: measured at the start
  std::int32_t max_batch = 0;          // sequences running; 0: from the memory formula
  std::int32_t average_tokens = 1024;  // expected length of a sequence, for the memory formula
  // How `serve` admits requests; offline commands admit at once.
  std::int32_t gather_window_ms = 50;       // a request waits for company at most so long
  std::int32_t mixed_prefill_tokens = 128;  // of prompts, in a step in which others decode; 0: no limit
  std::vector<std::int32_t> bucket_bounds = {256, 1024, 4096};  // prompt lengths that divide the buckets
  std::int32_t bucket_cap = 0;                                  // running sequences per bucket; 0: half of max_batch
  std::int32_t priority_ms = 1000;                              // waiting time that one step of priority is worth
};

struct FailureConfig {
  std::int32_t heartbeat_period_ms = 1000;
  std::int32_t max_missed_beats = 5;
  std::int32_t hang_limit_ms = 8000;
};

struct ServerConfig {
  std::string host = "127.0.0.1";           // --host
  std::int32_t http_port = 8000;            // --port; 0: any that is free
  std::int32_t thrift_port = 9190;          // --thrift-port; 0: any that is free, -1: none
  std::string model_names;                  // --model-name a,b: the first is its own, the others aliases
  std::string api_keys;                     // --api-keys FILE; empty: no key needed
  std::string tls_certificate, tls_key;     // PEM files; empty: no TLS
  std::int32_t max_connections = 4096;      // over all endpoints of one kind
  std::int64_t max_body_bytes = 8 << 20;    // of one request
  std::int32_t header_limit_ms = 10'000;    // to send a request's header
  std::int32_t body_limit_ms = 30'000;      // to send its body
  std::int32_t idle_limit_ms = 75'000;      // between requests of one connection
  std::int32_t unpolled_limit_ms = 60'000;  // after which a submitted request counts as given up
  std::int32_t write_limit_ms = 30'000;     // for a client to take what was written
  std::int32_t workers = 2;                 // threads that turn text into tokens
  std::int32_t max_waiting = 1024;          // requests
  std::int64_t max_waiting_tokens = 1 << 22;
  std::int64_t stream_buffer_bytes = 256 << 10;  // output that one client may leave unread
  std::int32_t request_limit_ms = 0;             // from arrival to end; 0: none
  std::int32_t drain_limit_ms = 30'000;          // for what runs, after SIGTERM
  std::int32_t response_cache_entries = 1000;    // 0: off
  std::int64_t response_cache_bytes = 64 << 20;
  std::int32_t max_dialogues = 1024;
  std::int32_t dialogue_idle_ms = 600'000;
  bool metrics_compat_vllm = false;  // --metrics-compat vllm: the names that vLLM's dashboards read, too
};

struct Config {
  ModelConfig model;
  DeviceConfig device;
  PipelineConfig pipeline;
  KvCacheConfig kv_cache;
  SchedulerConfig scheduler;
  ServerConfig server;
  FailureConfig failure;
};

}  // namespace trireme::config
