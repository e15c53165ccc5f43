// Attention: decoding over a long context against the memory's read rate, a prompt in GFLOP/s.
#include <numeric>

#include "tests/bench/kernels/bench_support.h"

namespace trireme::bench {
namespace {

using kernels::AttentionSequence;

struct Heads {
  const char* name;
  std::int64_t kv_heads, group, head_dim;
};
constexpr Heads kHeads[] = {{"9x64_of_3", 3, 3, 64}, {"32x128_of_8", 8, 4, 128}, {"4x256_of_1", 1, 4, 256}};

// A cache of FP16 keys and INT8 values in 16 KiB chunks; block b lies at b.
struct Cache {
  Cache(const Heads& heads, std::int64_t bytes) {
    constexpr std::int64_t kChunkBytes = 16384;
    const std::int64_t token_bytes = heads.head_dim * 3 + 4;
    auto& layout = view.layout;
    layout.block_tokens = static_cast<std::int32_t>(kChunkBytes / token_bytes / 4 * 4);
    layout.head_dim = static_cast<std::int32_t>(heads.head_dim);
    layout.value_offset = layout.block_tokens * layout.head_dim * 2;
    layout.value_scale_offset = layout.block_tokens * layout.head_dim * 3;
    view.head_stride_bytes = kChunkBytes;
    view.block_stride_bytes = kChunkBytes * heads.kv_heads;
    view.num_kv_heads = static_cast<std::int32_t>(heads.kv_heads);
    num_blocks = std::max<std::int64_t>(1, bytes / view.block_stride_bytes);
    memory = filled_memory(static_cast<std::size_t>(num_blocks * view.block_stride_bytes));
    view.base = memory.data();
    blocks.resize(static_cast<std::size_t>(num_blocks));
    std::iota(blocks.begin(), blocks.end(), 0);
  }
  kernels::KvLayerView view;
  std::int64_t num_blocks = 0;
  base::AlignedBuffer<std::byte> memory;
  std::vector<std::int32_t> blocks;
};

void decode(benchmark::State& state, kernels::InstructionSet set, int threads, const Heads& heads,
            std::int64_t context) {
  Backend backend(set, threads);
  Cache cache(heads, static_cast<std::int64_t>(beyond_cache_bytes()));
  const std::int64_t size = heads.kv_heads * heads.group * heads.head_dim;
  const std::int64_t blocks_per_sequence =
      (context + cache.view.layout.block_tokens - 1) / cache.view.layout.block_tokens;
  std::vector<float> query(static_cast<std::size_t>(size), 0.01f), output(query.size());
  std::int64_t first_block = 0;
  constexpr int kCalls = 8;
  const auto run = [&] {
    for (int i = 0; i < kCalls; ++i) {
      first_block += blocks_per_sequence;
      if (first_block + blocks_per_sequence > cache.num_blocks) first_block = 0;
      const AttentionSequence sequence{0, 1, context - 1, cache.blocks.data() + first_block};
      backend.ops->attention({query.data(),
                              size,
                              output.data(),
                              size,
                              cache.view,
                              {&sequence, 1},
                              heads.kv_heads * heads.group,
                              0.125f,
                              0.0f,
                              0},
                             {});
    }
  };
  run_benchmark(state, run, [&](double seconds) {
    const double bytes = static_cast<double>(context * heads.kv_heads * (heads.head_dim * 3 + 4)) * kCalls;
    state.counters["GB/s"] = bytes * 1e-9 / seconds;
    state.counters["of_limit"] = bytes * 1e-9 / seconds / read_bandwidth_gbps(backend.pool);
  });
}

void prefill(benchmark::State& state, kernels::InstructionSet set, int threads, const Heads& heads, std::int64_t rows) {
  Backend backend(set, threads);
  Cache cache(heads, rows * 2 * heads.kv_heads * (heads.head_dim * 3 + 4) + (std::int64_t{1} << 20));
  const std::int64_t size = heads.kv_heads * heads.group * heads.head_dim;
  std::vector<float> query(static_cast<std::size_t>(rows * size), 0.01f), output(query.size());
  const AttentionSequence sequence{0, rows, 0, cache.blocks.data()};
  const auto run = [&] {
    backend.ops->attention({query.data(),
                            size,
                            output.data(),
                            size,
                            cache.view,
                            {&sequence, 1},
                            heads.kv_heads * heads.group,
                            0.125f,
                            0.0f,
                            0},
                           {});
  };
  run_benchmark(state, run, [&](double seconds) {
    const auto pairs = static_cast<double>(rows * (rows + 1) / 2);
    state.counters["GFLOP/s"] = 4e-9 * pairs * static_cast<double>(size) / seconds;
  });
}

template <typename Body>
void add_cases(const char* kind, const std::vector<std::int64_t>& lengths, const Body& body) {
  for (const auto set : instruction_sets()) {
    for (const int threads : thread_counts()) {
      for (const Heads& heads : kHeads) {
        for (const std::int64_t length : lengths) {
          const std::string name = std::string(kind) + "/" + std::string(to_string(set)) +
                                   "/threads:" + std::to_string(threads) + "/" + heads.name +
                                   "/length:" + std::to_string(length);
          benchmark::RegisterBenchmark(name.c_str(), body, set, threads, heads, length)
              ->UseManualTime()
              ->MinTime(0.2)
              ->Unit(benchmark::kMicrosecond);
        }
      }
    }
  }
}

const bool kRegistered = [] {
  add_cases("attention_decode", {512, 8192}, decode);
  add_cases("attention_prefill", {512, 2048}, prefill);
  return true;
}();

}  // namespace
}  // namespace trireme::bench
