#include "launch/generation_run.h"

namespace trireme::launch {

base::Result<GenerationRun> run_generation(engine::RankRuntime& runtime, const scheduler::Request& request,
                                           const engine::OutputCallback& on_event) {
  using Clock = GenerationTiming::Clock;
  GenerationRun run;
  run.choices.resize(static_cast<std::size_t>(request.num_choices));
  run.timing.submitted = run.timing.first_token = Clock::now();
  std::size_t unfinished = run.choices.size();
  bool started = false;
  const auto collect = [&](const engine::GenerationEvent& event) {
    if (!started) run.timing.first_token = Clock::now();
    started = true;
    run.choices[event.choice_index].add(event);
    if (event.finish_reason != scheduler::FinishReason::kNone) --unfinished;
    on_event(event);
  };
  const auto id = runtime.engine().submit(request, collect, run.timing.submitted);
  if (!id) return id.error();
  while (unfinished > 0 || !runtime.engine().idle()) runtime.pump();
  run.timing.finished = Clock::now();
  for (const engine::Generation& choice : run.choices) {
    if (choice.finish_reason != scheduler::FinishReason::kNonFinite) continue;
    return base::Error{
        base::ErrorCode::kUnsupported,
        "the model's logits are not finite for this prompt: the weights may be damaged, or need --weights "
        "bf16 or f32"};
  }
  return run;
}

}  // namespace trireme::launch
