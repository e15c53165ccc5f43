// A whole pipeline in this process: threads as ranks, rank 0 on the calling thread. For end-to-end tests.
#pragma once

#include <functional>
#include <vector>

#include "parallel/communicator.h"
#include "runtime/config/config.h"
#include "runtime/engine/generation.h"
#include "runtime/engine/rank_runtime.h"
#include "scheduler/request.h"

namespace trireme::test {

// float32 weights and cache, one thread, a pool of 4 MiB per rank.
config::Config exact_config(const std::string& model_path);

// The default formats (FP16 weights and keys, INT8 values), whose rounding shows every difference; blocks of 8 tokens.
config::Config default_config(const std::string& model_path);

// Runs `body` with rank 0's runtime over num_ranks in-process ranks. Start-up errors throw std::runtime_error.
void with_cluster(const config::Config& config, int num_ranks, const std::function<void(engine::RankRuntime&)>& body);

// One rank's part of the same over any communicator: rank 0 runs `body`, the others serve.
void run_rank(const config::Config& config, parallel::Communicator& communicator,
              const std::function<void(engine::RankRuntime&)>& body);

// Submits all requests at once and pumps until all are done; [request][choice].
std::vector<std::vector<engine::Generation>> generate(engine::RankRuntime& runtime,
                                                      const std::vector<scheduler::Request>& requests);

// A greedy request of so many tokens that nothing stops early.
scheduler::Request greedy(std::vector<scheduler::TokenId> prompt, std::int32_t max_tokens);

// 32 requests that differ in length, sampling and what is asked of them, over a vocabulary of 512.
std::vector<scheduler::Request> mixed_requests();

// Prompts that differ in length and content, from a fixed seed; ids in [0, vocab_size).
std::vector<std::vector<scheduler::TokenId>> random_prompts(int count, int max_length, int vocab_size);

}  // namespace trireme::test
