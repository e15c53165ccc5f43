#include "launch/session.h"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

#include "launch/exit_codes.h"
#include "launch/failure_text.h"
#include "launch/log.h"
#include "launch/rank_cores.h"
#include "launch/refusal.h"
#include "parallel/heartbeat.h"
#include "parallel/mpi_environment.h"
#include "runtime/device/host_memory.h"

namespace trireme::launch {
namespace {

// What the heartbeat thread may ask of a runtime that comes and goes.
class ActivityProbe {
 public:
  void watch(engine::RankRuntime* runtime) {
    const std::lock_guard lock(mutex_);
    runtime_ = runtime;
  }
  parallel::RankActivity read() {
    const std::lock_guard lock(mutex_);
    return runtime_ == nullptr ? parallel::RankActivity{} : runtime_->activity();
  }

 private:
  std::mutex mutex_;
  engine::RankRuntime* runtime_ = nullptr;
};

class Watch {
 public:
  Watch(ActivityProbe& probe, engine::RankRuntime* runtime) : probe_(probe) { probe_.watch(runtime); }
  ~Watch() { probe_.watch(nullptr); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  ActivityProbe& probe_;
};

struct JobState {
  ActivityProbe probe;
  std::atomic<int> num_stages{0};
};

parallel::HeartbeatConfig heartbeat_config(const config::FailureConfig& config) {
  return {std::chrono::milliseconds(config.heartbeat_period_ms), config.max_missed_beats,
          std::chrono::milliseconds(config.hang_limit_ms)};
}

bool is_silent(const std::string& cause) {
  return cause.starts_with("connection") || cause.starts_with("no heartbeat");
}

bool hangs(const std::string& cause) {
  return cause.starts_with("no progress");
}

// Rather than failing for a cause of its own.
bool is_lost(const std::string& cause) {
  return is_silent(cause) || hangs(cause) || cause.starts_with(kCommunicationFailed);
}

// What the user can do about a rank that could not speak for itself.
std::string advice(const std::string& cause) {
  if (hangs(cause)) return "; it hangs: look at its stack (gdb -p), then start the job again";
  if (!is_silent(cause)) return "";
  return "; it died or was stopped: look at memory and kernel log of that host, then start the job again";
}

// On the heartbeat thread: a rank has failed, so the whole job ends. One rank says so: rank 0, or rank 1 if it is rank
// 0 that is lost. `num_stages` is 0 as long as there is no layout.
void end_job(const CommandContext& context, const parallel::RankFailure& failure, int num_stages) {
  const int speaker = failure.rank == 0 && context.world.size() > 1 ? 1 : 0;
  if (context.world.rank() == speaker) {
    const std::string stage = num_stages == 0 ? "" : ", stage " + std::to_string(failure.rank % num_stages);
    context.log.error("rank " + std::to_string(failure.rank) + " (host " + failure.host + stage +
                      ") failed: " + failure.cause + advice(failure.cause));
  }
  const int exit_code = is_lost(failure.cause) ? kRankLost : kFailure;
  if (context.world.size() > 1) parallel::MpiEnvironment::abort(exit_code);
  std::_Exit(exit_code);
}

engine::RankContext rank_context(const CommandContext& context) {
  const device::RankCores share = cores_of_this_rank(context);
  engine::RankContext result;
  result.communicator = &context.world;
  result.available_bytes = device::read_host_memory().usable_bytes();
  result.ranks_on_host = context.local_size;
  result.num_threads = static_cast<int>(share.cores.size());
  const bool bound = device::bind_this_thread(share.cores);
  const bool pin = context.config.config.device.pin_threads && share.exclusive && bound;
  for (const device::Core& core : share.cores) {
    if (pin) result.cores.push_back(core.cpus.front());
  }
  context.log.info(std::to_string(result.num_threads) + (result.num_threads == 1 ? " thread" : " threads") +
                   " on CPUs " + device::describe_cpus(share.cores) +
                   (pin ? ", each bound to its core" : ", not bound"));
  return result;
}

// What was worked out at the start, term by term.
void log_plan(const CommandContext& context, const engine::RankRuntime& runtime) {
  const engine::RankPlan& plan = runtime.plan();
  const int rank = context.world.rank();
  const model::StageSpec stage = plan.stage_spec(rank);
  context.log.info("layers " + std::to_string(stage.begin_layer) + "-" + std::to_string(stage.end_layer - 1) + " of " +
                   std::to_string(runtime.description().num_layers()) + (stage.first ? ", embedding" : "") +
                   (stage.last ? ", head" : "") + "; " + std::string(runtime.ops_name()) + " kernels; " +
                   kv_cache::to_string(plan.kv[static_cast<std::size_t>(rank)]));
  if (rank != 0) return;
  for (const std::string& note : plan.notes) context.log.info(note);
  context.log.info("prefill chunk " + runtime.prefill_text());
}

void show_place(const CommandContext& context, const engine::RankRuntime& runtime) {
  const parallel::PipelineLayout& layout = runtime.plan().layout;
  context.log.set_place({.rank = context.world.rank(),
                         .size = context.world.size(),
                         .replica = layout.num_replicas() > 1 ? layout.replica_of(context.world.rank()) : -1,
                         .stage = layout.stage_of(context.world.rank())});
  log_plan(context, runtime);
}

int run_ready(const CommandContext& context, const SessionBody& body, parallel::Heartbeat& heartbeat,
              engine::RankRuntime& runtime) {
  int exit_code = kSuccess;
  if (context.is_root()) {
    exit_code = body(runtime);
    heartbeat.expect_shutdown();
    runtime.shutdown();
  } else {
    runtime.serve();
    heartbeat.expect_shutdown();
  }
  return exit_code;
}

int run_pipeline(const CommandContext& context, const SessionBody& body, parallel::Heartbeat& heartbeat,
                 JobState& state) {
  if (context.is_root()) context.log.info("loading " + context.config.config.model.path);
  auto started = engine::RankRuntime::start(context.config.config, rank_context(context));
  if (!started) {
    heartbeat.expect_shutdown();
    if (context.is_root()) context.log.error(started.error().message);
    return kFailure;
  }
  engine::RankRuntime& runtime = **started;
  const Watch watch(state.probe, &runtime);
  show_place(context, runtime);
  state.num_stages = runtime.plan().layout.num_stages();
  try {
    return run_ready(context, body, heartbeat, runtime);
  } catch (...) {
    // Normally does not come back: rank 0 names this rank and ends the job, however long this one would take to end.
    heartbeat.report_own_failure(failure_text(std::current_exception()));
    throw;
  }
}

}  // namespace

base::Status check_session(const config::Config& config) {
  if (config.model.path.empty()) {
    return base::invalid_argument("--model is needed: a GGUF file or a Hugging Face directory");
  }
  if (config.failure.hang_limit_ms < config.failure.heartbeat_period_ms) {
    return base::invalid_argument("failure.hang_limit_ms must be at least failure.heartbeat_period_ms");
  }
  return base::ok_status();
}

int run_session(const CommandContext& context, const SessionBody& body) {
  if (const auto status = check_session(context.config.config); !status) return refuse(context, status.error());
  JobState state;
  parallel::Heartbeat heartbeat(
      context.world, heartbeat_config(context.config.config.failure), [&state] { return state.probe.read(); },
      [&](const parallel::RankFailure& failure) { end_job(context, failure, state.num_stages); });
  return run_pipeline(context, body, heartbeat, state);
}

}  // namespace trireme::launch
