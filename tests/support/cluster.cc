#include "tests/support/cluster.h"

#include <random>
#include <stdexcept>
#include <thread>

#include "parallel/in_process_communicator.h"

namespace trireme::test {

config::Config exact_config(const std::string& model_path) {
  config::Config config;
  config.model.path = model_path;
  config.model.weights = config::Weights::kF32;
  config.kv_cache.key = config.kv_cache.value = base::DType::kF32;
  config.kv_cache.memory_bytes = 4 << 20;
  config.device.threads = 1;
  config.scheduler.prefill_chunk = config.scheduler.max_step_tokens;  // nothing to measure at each start
  return config;
}

config::Config default_config(const std::string& model_path) {
  config::Config config = exact_config(model_path);
  config.model.weights = config::Weights::kF16;
  config.kv_cache.key = base::DType::kF16;
  config.kv_cache.value = base::DType::kI8;
  config.kv_cache.block_tokens = 8;
  config.kv_cache.memory_bytes = 64 << 20;
  return config;
}

void run_rank(const config::Config& config, parallel::Communicator& communicator,
              const std::function<void(engine::RankRuntime&)>& body) {
  engine::RankContext context;
  context.communicator = &communicator;
  context.available_bytes = std::int64_t{1} << 30;
  context.num_threads = config.device.threads;
  auto runtime = engine::RankRuntime::start(config, context);
  if (!runtime) throw std::runtime_error(runtime.error().message);
  if (communicator.rank() != 0) {
    (*runtime)->serve();
    return;
  }
  body(**runtime);
  (*runtime)->shutdown();
}

void with_cluster(const config::Config& config, int num_ranks, const std::function<void(engine::RankRuntime&)>& body) {
  auto communicators = parallel::make_in_process_communicators(num_ranks);
  std::vector<std::thread> ranks;
  for (int rank = 1; rank < num_ranks; ++rank) {
    ranks.emplace_back([&config, &communicators, rank] {
      try {
        run_rank(config, *communicators[static_cast<std::size_t>(rank)], {});
      } catch (const std::runtime_error&) {
        // Rank 0 throws the same.
      }
    });
  }
  std::exception_ptr error;
  try {
    run_rank(config, *communicators[0], body);
  } catch (...) {
    error = std::current_exception();
  }
  for (std::thread& rank : ranks) rank.join();
  if (error) std::rethrow_exception(error);
}

std::vector<std::vector<engine::Generation>> generate(engine::RankRuntime& runtime,
                                                      const std::vector<scheduler::Request>& requests) {
  std::vector<std::vector<engine::Generation>> outputs(requests.size());
  std::size_t unfinished = 0;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    outputs[i].resize(static_cast<std::size_t>(requests[i].num_choices));
    unfinished += outputs[i].size();
    const auto collect = [&output = outputs[i], &unfinished](const engine::GenerationEvent& event) {
      output[event.choice_index].add(event);
      if (event.finish_reason != scheduler::FinishReason::kNone) --unfinished;
    };
    const auto id = runtime.engine().submit(requests[i], collect, std::chrono::steady_clock::now());
    if (!id) throw std::runtime_error(id.error().message);
  }
  while (unfinished > 0) runtime.pump();
  while (!runtime.engine().idle()) runtime.pump();
  return outputs;
}

scheduler::Request greedy(std::vector<scheduler::TokenId> prompt, std::int32_t max_tokens) {
  scheduler::Request request;
  request.prompt = std::move(prompt);
  request.max_tokens = max_tokens;
  return request;
}

std::vector<scheduler::Request> mixed_requests() {
  std::vector<scheduler::Request> requests;
  const auto prompts = random_prompts(32, 90, 512);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    requests.push_back(greedy(prompts[i], 4 + static_cast<std::int32_t>(i % 13) * 5));
    scheduler::SamplingParams& sampling = requests.back().sampling;
    sampling.seed = i;
    sampling.num_logprobs = 3;
    if (i % 3 == 1) sampling.temperature = 0.8f;
    if (i % 3 == 2) {
      sampling.temperature = 1.2f;
      sampling.top_k = 40;
      sampling.repetition_penalty = 1.3f;
    }
    requests.back().prompt_logprobs = i % 5 == 0;
  }
  return requests;
}

std::vector<std::vector<scheduler::TokenId>> random_prompts(int count, int max_length, int vocab_size) {
  std::mt19937 random(7);
  std::vector<std::vector<scheduler::TokenId>> prompts(static_cast<std::size_t>(count));
  for (auto& prompt : prompts) {
    prompt.resize(1 + random() % static_cast<unsigned>(max_length));
    for (auto& token : prompt) token = static_cast<scheduler::TokenId>(random() % static_cast<unsigned>(vocab_size));
  }
  return prompts;
}

}  // namespace trireme::test
