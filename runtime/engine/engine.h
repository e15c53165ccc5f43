// Engine: rank 0's loop, which makes tokens. A turn takes results in, lets the schedulers decide, and sends plans out,
// without ever waiting; engine.cc reads from top to bottom as a token is made. Lives on the communication thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "parallel/result_return.h"
#include "runtime/engine/output_processor.h"
#include "runtime/engine/replica_pipeline.h"
#include "runtime/engine/step_log.h"
#include "runtime/tokenizer/tokenizer.h"
#include "scheduler/request.h"

namespace trireme::engine {

// A choice of a request has left the queue.
struct RequestStart {
  scheduler::RequestId request;
  std::int32_t cached_tokens = 0;  // of the prompt, from the prefix cache
};
using StartCallback = std::function<void(const RequestStart&)>;

class Engine {
 public:
  // `tokenizer` outlives this object. `results` collects from all stages of `replicas`.
  Engine(const tokenizer::Tokenizer& tokenizer, std::vector<std::unique_ptr<ReplicaPipeline>> replicas,
         std::unique_ptr<parallel::ResultCollector> results);

  // Whether a request can ever fit; the error names the limit. Any thread.
  base::Status check(const scheduler::Request& request) const;

  // How waiting requests are admitted. Precondition: idle().
  void set_batching(const scheduler::BatchingPolicy& policy);

  // `callback` is told, during turns, of each choice that starts.
  void on_start(StartCallback callback) { start_callback_ = std::move(callback); }

  // Takes a request; its id is assigned here and returned. `callback` gets its output during turns, at least one event
  // per choice. Errors: a request that can never fit.
  base::Result<scheduler::RequestId> submit(scheduler::Request request, const OutputCallback& callback,
                                            scheduler::TimePoint now);
  // Ends a request without further output. Unknown ids are ignored.
  void cancel(scheduler::RequestId request);

  // Forgets the KV blocks that are cached for requests of this cache_scope, whatever their adapter.
  void forget_scope(const std::string& cache_scope);

  // One turn; true if anything happened.
  bool turn(scheduler::TimePoint now);

  bool idle() const;  // nothing queued, running or in flight; the timings of all steps are here
  void shutdown();    // precondition: idle()
  bool all_sent() const;
  std::vector<scheduler::SchedulerStats> stats() const;  // per replica
  const std::vector<ReplicaTotals>& totals() const { return log_.totals(); }
  // Sees every step from now on, once all stages have answered it; during turns.
  void observe_steps(StepObserver observer) { log_.set_observer(std::move(observer)); }

 private:
  struct Replica {
    std::unique_ptr<ReplicaPipeline> pipeline;
    OutputProcessor outputs;
  };
  struct RunningRequest {
    std::size_t replica = 0;
    std::vector<scheduler::SequenceId> sequences;
    std::size_t num_unfinished = 0;
  };

  void take_results(scheduler::TimePoint now);
  void take_result(const scheduler::StepResult& result, scheduler::TimePoint now);
  void send_plans(Replica& replica, scheduler::TimePoint now);
  void deliver(Replica& replica, std::vector<scheduler::SequenceEvent> events);
  std::size_t replica_for(const scheduler::Request& request) const;

  std::vector<Replica> replicas_;
  std::unique_ptr<parallel::ResultCollector> results_;
  StepLog log_;
  std::unordered_map<scheduler::RequestId, RunningRequest> requests_;
  StartCallback start_callback_;
  std::uint64_t next_request_ = 1;
  bool moved_ = false;
};

}  // namespace trireme::engine
