// Continues several prompts in one batch, in a program of one's own: the engine without the trireme program around it.
//     continue_prompts MODEL PROMPT…
// Under mpirun, pass MpiEnvironment::world() instead of the in-process communicator, and let all ranks but 0 call
// serve().
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "parallel/in_process_communicator.h"
#include "runtime/device/host_memory.h"
#include "runtime/engine/generation.h"
#include "runtime/engine/rank_runtime.h"

using namespace trireme;

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: continue_prompts MODEL PROMPT...\n";
    return 2;
  }
  config::Config config;
  config.model.path = argv[1];
  config.kv_cache.memory_bytes = 256 << 20;

  const auto communicators = parallel::make_in_process_communicators(1);
  engine::RankContext context;
  context.communicator = communicators.front().get();
  context.available_bytes = device::read_host_memory().usable_bytes();
  const auto runtime = engine::RankRuntime::start(config, context);
  if (!runtime) {
    std::cerr << runtime.error().message << "\n";
    return 1;
  }
  engine::RankRuntime& rank = **runtime;

  const std::vector<std::string> prompts(argv + 2, argv + argc);
  std::vector<engine::Generation> outputs(prompts.size());
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    auto tokens = rank.tokenizer().encode(prompts[i]);
    if (!tokens) {
      std::cerr << prompts[i] << ": " << tokens.error().message << "\n";
      return 2;
    }
    scheduler::Request request;
    request.prompt = std::move(tokens).value();
    request.max_tokens = 32;
    request.stop_token_ids = rank.tokenizer().end_of_generation();
    const auto collect = [&output = outputs[i]](const engine::GenerationEvent& event) { output.add(event); };
    const auto id = rank.engine().submit(std::move(request), collect, std::chrono::steady_clock::now());
    if (!id) {
      std::cerr << prompts[i] << ": " << id.error().message << "\n";
      return 2;
    }
  }
  while (!rank.engine().idle()) rank.pump();
  rank.shutdown();

  for (std::size_t i = 0; i < prompts.size(); ++i) std::cout << prompts[i] << outputs[i].text << "\n";
}
