// RankRuntime: everything that one rank owns while it runs: its stage of the model, its share of the KV cache, the
// worker on the compute thread, the message loop, and on rank 0 the engine. The thread that calls it is the
// communication thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "kernels/ops.h"
#include "kernels/thread_pool.h"
#include "parallel/communicator.h"
#include "parallel/communicator_transport.h"
#include "parallel/heartbeat.h"
#include "parallel/message_loop.h"
#include "parallel/result_return.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/config/config.h"
#include "runtime/engine/activity_monitor.h"
#include "runtime/engine/engine.h"
#include "runtime/engine/prefill_tuning.h"
#include "runtime/engine/rank_plan.h"
#include "runtime/kv_cache/kv_cache.h"
#include "runtime/model/stage_model.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/worker/stage_worker.h"

namespace trireme::engine {

// Where a rank finds itself.
struct RankContext {
  parallel::Communicator* communicator = nullptr;  // outlives the runtime
  std::int64_t available_bytes = 0;                // memory of this host
  std::int32_t ranks_on_host = 1;
  std::int32_t num_threads = 1;
  std::vector<int> cores;  // to pin the compute threads to; empty: not pinned
};

class RankRuntime {
 public:
  // Collective over all ranks. Opens and checks the model, plans, loads this rank's weights and starts the worker;
  // returns the same error on every rank if any fails.
  static base::Result<std::unique_ptr<RankRuntime>> start(const config::Config& config, const RankContext& context);
  // Stops the compute thread; what it was computing is lost unless shutdown() or serve() has returned.
  ~RankRuntime();

  // One round: moves messages, gives the engine its turn on rank 0, and waits a little if there was nothing to do.
  // Rethrows what ended the worker.
  void pump();
  void wake();  // any thread: pump() returns soon
  // Rank 0: ends all workers and waits for this rank's. Precondition: engine().idle().
  void shutdown();
  // Other ranks: pumps until rank 0 has ended this rank's worker.
  void serve();

  Engine& engine() { return *engine_; }                                  // rank 0 only
  const tokenizer::Tokenizer& tokenizer() const { return *tokenizer_; }  // rank 0 only
  const checkpoint::Checkpoint& checkpoint() const { return *checkpoint_; }
  const model::ModelDescription& description() const { return description_; }
  const model::WeightPlan& weights() const { return weight_plan_; }
  const RankPlan& plan() const { return *plan_; }
  std::int32_t prefill_chunk() const { return prefill_.chunk; }
  const std::string& prefill_text() const { return prefill_.text; }
  const std::vector<config::Adapter>& adapters() const { return config_.model.adapters; }  // a request counts from 1
  std::string_view ops_name() const { return ops_->name(); }
  parallel::RankActivity activity();  // the heartbeat thread, once start() has returned

 private:
  RankRuntime(const config::Config& config, const RankContext& context);
  base::Status open_model();
  base::Status open_adapters();
  base::Result<std::vector<model::StageAdapter>> load_adapters(const model::StageSpec& stage) const;
  base::Status make_plan(const std::vector<RankFacts>& ranks);
  base::Status load_stage();
  base::Status measure_prefill();
  void tune_prefill(const std::vector<ChunkTimes>& ranks);
  void make_ops();
  void connect();
  void start_worker();
  void wait_a_little();
  void finish_worker();
  std::unique_ptr<Engine> make_engine();

  // Destroyed in the reverse order: the worker's thread ends first (in the destructor), then what it uses.
  const config::Config config_;
  const RankContext context_;
  std::unique_ptr<checkpoint::Checkpoint> checkpoint_;
  model::ModelDescription description_;
  model::WeightPlan weight_plan_;
  struct OpenAdapter {
    std::unique_ptr<checkpoint::Checkpoint> checkpoint;
    model::AdapterDescription description;
  };
  std::vector<OpenAdapter> adapters_;
  RankFacts facts_;
  std::unique_ptr<tokenizer::Tokenizer> tokenizer_;
  std::optional<RankPlan> plan_;
  ChunkTimes chunk_times_;
  PrefillTuning prefill_;
  std::unique_ptr<kernels::ThreadPool> pool_;
  std::unique_ptr<kernels::Ops> ops_;
  std::unique_ptr<kv_cache::KvCache> cache_;
  std::unique_ptr<model::StageModel> stage_;
  std::unique_ptr<worker::StageWorker> worker_;  // its buffers outlive the loop, which may still be moving them
  std::unique_ptr<parallel::MessageLoop> loop_;
  std::unique_ptr<parallel::CommunicatorTransport> transport_;
  std::unique_ptr<parallel::ControlReceiver> plans_;
  std::unique_ptr<parallel::ResultSender> results_;
  std::unique_ptr<Engine> engine_;
  ActivityMonitor monitor_;  // of the heartbeat thread
  std::atomic<std::uint64_t> num_pumps_{0};
  std::atomic<bool> must_pump_{false};  // work is under way, so that the communication thread has to move
  std::exception_ptr worker_error_;     // written by the compute thread before worker_done_
  std::atomic<bool> worker_done_{false};
  std::thread compute_thread_;
};

}  // namespace trireme::engine
