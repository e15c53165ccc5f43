#include "runtime/engine/engine.h"

#include <algorithm>

#include "base/check.h"

namespace trireme::engine {

using scheduler::FinishReason;
using scheduler::TimePoint;

Engine::Engine(const tokenizer::Tokenizer& tokenizer, std::vector<std::unique_ptr<ReplicaPipeline>> replicas,
               std::unique_ptr<parallel::ResultCollector> results)
    : results_(std::move(results)), log_(replicas.size(), replicas.at(0)->num_stages()) {
  for (auto& pipeline : replicas) replicas_.push_back({std::move(pipeline), OutputProcessor(tokenizer)});
}

base::Status Engine::check(const scheduler::Request& request) const {
  for (const Replica& replica : replicas_) {
    if (auto fits = replica.pipeline->scheduler().check(request); !fits) return fits;
  }
  return base::ok_status();
}

void Engine::set_batching(const scheduler::BatchingPolicy& policy) {
  for (Replica& replica : replicas_) replica.pipeline->scheduler().set_batching(policy);
}

// 1. A request becomes sequences, one per choice, in the queue of the replica that has least to do. Choices stay
// together, so that they share the prompt's blocks.
base::Result<scheduler::RequestId> Engine::submit(scheduler::Request request, const OutputCallback& callback,
                                                  TimePoint now) {
  request.id = scheduler::RequestId(next_request_++);
  const auto shared = std::make_shared<const scheduler::Request>(std::move(request));
  RunningRequest running;
  running.replica = replica_for(*shared);
  Replica& replica = replicas_[running.replica];
  for (std::int32_t choice = 0; choice < shared->num_choices; ++choice) {
    auto sequence = replica.pipeline->scheduler().add(shared, static_cast<std::uint32_t>(choice), now);
    if (!sequence) {
      TRIREME_CHECK(choice == 0) << sequence.error().message;  // what one choice may, all may
      return sequence.error();
    }
    replica.outputs.add(*sequence, *shared, callback);
    running.sequences.push_back(*sequence);
  }
  running.num_unfinished = running.sequences.size();
  requests_.emplace(shared->id, std::move(running));
  return shared->id;
}

// What happens between two looks at the messages; the steps of one token are spread over several turns.
bool Engine::turn(TimePoint now) {
  moved_ = false;
  take_results(now);
  for (Replica& replica : replicas_) send_plans(replica, now);
  return moved_;
}

// 2. The scheduler decides who computes which tokens next. 3. The plan goes to all stages, which compute it.
void Engine::send_plans(Replica& replica, TimePoint now) {
  scheduler::Scheduler& scheduler = replica.pipeline->scheduler();
  while (const auto plan = scheduler.schedule(now)) {
    replica.pipeline->send(*plan);
    log_.sent(*plan, scheduler.last_composition(), now);
    moved_ = true;
  }
  for (const scheduler::SequenceStart& start : scheduler.take_started()) {
    if (start_callback_) start_callback_({start.request, start.cached_tokens});
  }
  deliver(replica, scheduler.take_ended());
}

void Engine::take_results(TimePoint now) {
  while (const auto message = results_->try_receive()) {
    const auto result = scheduler::decode_step_result(message->bytes);
    TRIREME_CHECK(result.ok()) << "result of rank " << message->rank << ": " << result.error().message;
    take_result(*result, now);
    moved_ = true;
  }
}

// 4. Every stage says where its time went. What the last one sampled: tokens are appended, sequences finish, their
// blocks are free again.
void Engine::take_result(const scheduler::StepResult& result, TimePoint now) {
  log_.answered(result, now);
  Replica& replica = replicas_[result.replica];
  if (result.timing.stage + 1 < replica.pipeline->num_stages()) return;
  deliver(replica, replica.pipeline->scheduler().update(result, now));
}

// 5. Tokens become text and reach the client; a stop string ends its sequence before the next plan is made.
void Engine::deliver(Replica& replica, std::vector<scheduler::SequenceEvent> events) {
  for (scheduler::SequenceEvent& event : events) {
    const scheduler::SequenceId sequence = event.sequence;
    const scheduler::RequestId request = event.request;
    const bool finished = event.finish_reason != FinishReason::kNone;
    const bool stopped = replica.outputs.deliver(std::move(event));
    if (stopped) replica.pipeline->scheduler().finish(sequence);
    const auto running = requests_.find(request);
    if (running == requests_.end() || !(finished || stopped)) continue;
    if (--running->second.num_unfinished == 0) requests_.erase(running);
  }
}

void Engine::cancel(scheduler::RequestId request) {
  const auto found = requests_.find(request);
  if (found == requests_.end()) return;
  Replica& replica = replicas_[found->second.replica];
  for (const scheduler::SequenceId sequence : found->second.sequences) {
    replica.pipeline->scheduler().finish(sequence);
    replica.outputs.remove(sequence);
  }
  requests_.erase(found);
}

void Engine::forget_scope(const std::string& cache_scope) {
  for (Replica& replica : replicas_) replica.pipeline->scheduler().forget_scope(cache_scope);
}

// The one that has least to do; but requests with a cache scope of their own go where its blocks lie.
std::size_t Engine::replica_for(const scheduler::Request& request) const {
  if (!request.cache_scope.empty()) return std::hash<std::string>{}(request.cache_scope) % replicas_.size();
  const auto load = [](const Replica& replica) {
    const scheduler::SchedulerStats stats = replica.pipeline->scheduler().stats();
    return stats.num_waiting + stats.num_running;
  };
  const auto least = std::min_element(replicas_.begin(), replicas_.end(),
                                      [&](const Replica& a, const Replica& b) { return load(a) < load(b); });
  return static_cast<std::size_t>(least - replicas_.begin());
}

bool Engine::idle() const {
  return log_.complete() && std::all_of(replicas_.begin(), replicas_.end(),
                                        [](const Replica& replica) { return replica.pipeline->scheduler().idle(); });
}

void Engine::shutdown() {
  TRIREME_CHECK(idle());
  for (Replica& replica : replicas_) replica.pipeline->send_shutdown();
}

bool Engine::all_sent() const {
  return std::all_of(replicas_.begin(), replicas_.end(),
                     [](const Replica& replica) { return replica.pipeline->all_sent(); });
}

std::vector<scheduler::SchedulerStats> Engine::stats() const {
  std::vector<scheduler::SchedulerStats> stats;
  for (const Replica& replica : replicas_) stats.push_back(replica.pipeline->scheduler().stats());
  return stats;
}

}  // namespace trireme::engine
