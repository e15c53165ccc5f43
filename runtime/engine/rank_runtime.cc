#include "runtime/engine/rank_runtime.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "kernels/cpu_ops.h"
#include "runtime/engine/agreement.h"
#include "runtime/model/architecture.h"

namespace trireme::engine {
namespace {

constexpr std::uint32_t kEpoch = 1;                           // a supervisor that restarts the job will count them
constexpr std::chrono::microseconds kBusyPollInterval{200};   // messages move at least every 0.5 ms while computing
constexpr std::chrono::microseconds kIdlePollInterval{2000};  // at most; the loop itself begins with shorter waits

constexpr std::chrono::milliseconds kTuningTime{600};

int rank_of(const RankContext& context) {
  return context.communicator->rank();
}

}  // namespace

RankRuntime::RankRuntime(const config::Config& config, const RankContext& context)
    : config_(config), context_(context) {}

base::Result<std::unique_ptr<RankRuntime>> RankRuntime::start(const config::Config& config,
                                                              const RankContext& context) {
  std::unique_ptr<RankRuntime> runtime(new RankRuntime(config, context));
  const auto agreed = [&](const std::function<base::Status()>& part) {
    return agree(*context.communicator, attempt(part));
  };
  if (auto status = agreed([&] { return runtime->open_model(); }); !status) return status.error();
  const std::vector<RankFacts> ranks = gather(*context.communicator, runtime->facts_);
  if (auto status = agreed([&] { return runtime->make_plan(ranks); }); !status) return status.error();
  if (auto status = agreed([&] { return runtime->load_stage(); }); !status) return status.error();
  if (auto status = agreed([&] { return runtime->measure_prefill(); }); !status) return status.error();
  runtime->tune_prefill(gather(*context.communicator, runtime->chunk_times_));
  runtime->connect();
  runtime->start_worker();
  return runtime;
}

base::Status RankRuntime::open_model() {
  auto opened = checkpoint::Checkpoint::open(config_.model.path);
  if (!opened) return opened.error();
  checkpoint_ = std::move(opened).value();
  auto description = model::describe_model(*checkpoint_);
  if (!description) return description.error();
  description_ = std::move(description).value();
  facts_.available_bytes = context_.available_bytes;
  facts_.ranks_on_host = context_.ranks_on_host;
  weight_plan_ =
      model::plan_weights(description_, model::make_format_chooser(*checkpoint_, description_, config_.model.weights));
  for (const kernels::InstructionSet set : kernels::available_instruction_sets()) {
    facts_.instruction_sets |= 1u << static_cast<unsigned>(set);
  }
  facts_.model_fingerprint = checkpoint_->fingerprint();
  if (auto status = open_adapters(); !status) return status;
  if (rank_of(context_) != 0) return base::ok_status();
  auto tokenizer = tokenizer::Tokenizer::from_checkpoint(*checkpoint_);
  if (!tokenizer) return tokenizer.error();
  tokenizer_ = std::move(tokenizer).value();
  return base::ok_status();
}

base::Status RankRuntime::open_adapters() {
  for (const config::Adapter& adapter : config_.model.adapters) {
    auto opened = checkpoint::Checkpoint::open_adapter(adapter.path);
    if (!opened) return opened.error();
    auto description = model::describe_adapter(**opened, description_);
    if (!description) return description.error();
    facts_.model_fingerprint = (*opened)->fingerprint_after(facts_.model_fingerprint);
    std::int64_t most = 0;
    for (std::int32_t layer = 0; layer < description_.num_layers(); ++layer) {
      most = std::max(most, description->bytes(layer, layer + 1));
    }
    facts_.adapter_layer_bytes += most;
    adapters_.push_back({std::move(*opened), std::move(*description)});
  }
  return base::ok_status();
}

base::Result<std::vector<model::StageAdapter>> RankRuntime::load_adapters(const model::StageSpec& stage) const {
  std::vector<model::StageAdapter> loaded;
  for (const OpenAdapter& adapter : adapters_) {
    auto part = model::load_stage_adapter(*adapter.checkpoint, adapter.description, stage);
    if (!part) return part.error();
    loaded.push_back(std::move(*part));
  }
  return loaded;
}

base::Status RankRuntime::make_plan(const std::vector<RankFacts>& ranks) {
  auto plan = make_rank_plan(config_, {description_, weight_plan_}, ranks);
  if (!plan) return plan.error();
  plan_ = std::move(plan).value();
  return base::ok_status();
}

void RankRuntime::make_ops() {
  pool_ = std::make_unique<kernels::ThreadPool>(context_.num_threads, context_.cores);
  const auto limit = kernels::instruction_set_from_string(config_.device.instruction_set);
  std::optional<kernels::InstructionSet> best;
  for (const kernels::InstructionSet set : kernels::kAllInstructionSets) {
    const bool is_common = (plan_->instruction_sets >> static_cast<unsigned>(set) & 1u) != 0;
    if (is_common && (!limit.has_value() || set <= *limit)) best = set;
  }
  const bool reference = config_.device.kind == config::Device::kReference || !best.has_value();
  ops_ = reference ? kernels::make_reference_ops() : kernels::make_cpu_ops(*best, *pool_);
}

base::Status RankRuntime::load_stage() {
  make_ops();
  const int rank = rank_of(context_);
  const model::StageSpec stage = plan_->stage_spec(rank);
  auto weights = model::load_stage_weights(*checkpoint_, description_, stage, config_.model.weights, *pool_);
  if (!weights) return weights.error();
  auto adapters = load_adapters(stage);
  if (!adapters) return adapters.error();
  kv_cache::KvCacheShape shape;
  shape.layout = plan_->chunk;
  shape.chunk_bytes = config_.kv_cache.chunk_bytes;
  shape.num_kv_heads = description_.num_kv_heads;
  for (std::int32_t layer = stage.begin_layer; layer < stage.end_layer; ++layer) {
    shape.layer_group.push_back(description_.group_of_layer(layer));
  }
  shape.num_blocks = plan_->num_blocks[static_cast<std::size_t>(plan_->layout.replica_of(rank))];
  cache_ = std::make_unique<kv_cache::KvCache>(std::move(shape));
  stage_ = std::make_unique<model::StageModel>(description_, stage, std::move(weights).value(), *ops_, *cache_,
                                               std::move(*adapters));
  return base::ok_status();
}

// On a thread of its own, bound as the compute thread will be.
base::Status RankRuntime::measure_prefill() {
  if (config_.scheduler.prefill_chunk > 0 || config_.device.kind == config::Device::kReference)
    return base::ok_status();
  base::Status status = base::ok_status();
  std::thread thread([&] {
    pool_->pin_caller();
    status = attempt([&] {
      chunk_times_ = measure_chunks(*stage_, *cache_, config_.scheduler.max_step_tokens, kTuningTime);
      return base::ok_status();
    });
  });
  thread.join();
  return status;
}

void RankRuntime::tune_prefill(const std::vector<ChunkTimes>& ranks) {
  const std::int32_t most = config_.scheduler.max_step_tokens;
  if (config_.scheduler.prefill_chunk == 0) {
    prefill_ = choose_chunk(ranks, most);
  } else {
    prefill_.chunk = std::min(config_.scheduler.prefill_chunk, most);
    prefill_.text = std::to_string(prefill_.chunk) + " tokens (scheduler.prefill_chunk)";
  }
}

void RankRuntime::connect() {
  const int rank = rank_of(context_);
  const model::StageSpec& stage = stage_->stage();
  loop_ = std::make_unique<parallel::MessageLoop>(*context_.communicator);
  parallel::PipelineNeighbours neighbours;
  if (!stage.first) neighbours.previous = rank - 1;
  if (!stage.last) neighbours.next = rank + 1;
  transport_ = std::make_unique<parallel::CommunicatorTransport>(*loop_, neighbours, kEpoch);
  plans_ = std::make_unique<parallel::ControlReceiver>(*loop_, 0, parallel::Tag::kPlan, kEpoch);
  results_ = std::make_unique<parallel::ResultSender>(*loop_, kEpoch);
  if (rank == 0) engine_ = make_engine();
}

std::unique_ptr<Engine> RankRuntime::make_engine() {
  std::vector<std::unique_ptr<ReplicaPipeline>> replicas;
  for (int replica = 0; replica < plan_->layout.num_replicas(); ++replica) {
    std::vector<int> ranks;
    for (int stage = 0; stage < plan_->layout.num_stages(); ++stage)
      ranks.push_back(plan_->layout.rank_of(replica, stage));
    scheduler::SchedulerConfig config = plan_->scheduler_config(config_, description_, replica);
    config.epoch = kEpoch;
    config.prefill_chunk = prefill_.chunk;
    replicas.push_back(std::make_unique<ReplicaPipeline>(*loop_, ranks, std::move(config)));
  }
  auto results = std::make_unique<parallel::ResultCollector>(*loop_, kEpoch);
  return std::make_unique<Engine>(*tokenizer_, std::move(replicas), std::move(results));
}

void RankRuntime::start_worker() {
  const int rank = rank_of(context_);
  worker::StageResources resources;
  resources.model = stage_.get();
  resources.cache = cache_.get();
  resources.ops = ops_.get();
  resources.plans = plans_.get();
  resources.transport = transport_.get();
  resources.answer = [this](const scheduler::StepResult& result) { results_->send(scheduler::encode(result)); };
  const worker::StageIdentity identity{kEpoch, static_cast<std::uint32_t>(plan_->layout.replica_of(rank)),
                                       static_cast<std::uint32_t>(plan_->layout.stage_of(rank))};
  worker_ = std::make_unique<worker::StageWorker>(identity, resources, config_.scheduler.max_step_tokens);
  compute_thread_ = std::thread([this] {
    ::pthread_setname_np(::pthread_self(), "compute");
    try {
      pool_->pin_caller();
      worker_->run();
    } catch (...) {
      worker_error_ = std::current_exception();
    }
    worker_done_.store(true);
    loop_->wake();
  });
}

void RankRuntime::pump() {
  num_pumps_.fetch_add(1, std::memory_order_relaxed);
  bool moved = loop_->poll();
  if (engine_) moved |= engine_->turn(std::chrono::steady_clock::now());
  // Rank 0 may also wait for its user, the others only for rank 0.
  must_pump_.store(!engine_ || !engine_->idle(), std::memory_order_relaxed);
  if (worker_done_.load())
    finish_worker();
  else if (!moved)
    wait_a_little();
}

void RankRuntime::wake() {
  loop_->wake();
}

void RankRuntime::wait_a_little() {
  const bool computing = worker_->computing();
  loop_->idle(computing, computing ? kBusyPollInterval : kIdlePollInterval);
}

void RankRuntime::finish_worker() {
  if (compute_thread_.joinable()) compute_thread_.join();
  if (worker_error_) std::rethrow_exception(worker_error_);
}

void RankRuntime::serve() {
  while (compute_thread_.joinable()) pump();
}

void RankRuntime::shutdown() {
  engine_->shutdown();
  while (compute_thread_.joinable() || !engine_->all_sent()) pump();
}

parallel::RankActivity RankRuntime::activity() {
  const bool compute_is_due = worker_->computing() || loop_->has_due_waiter();
  return monitor_.observe({compute_is_due, pool_->progress().load() + stage_->progress()},
                          {must_pump_.load(), num_pumps_.load()});
}

RankRuntime::~RankRuntime() {
  if (!compute_thread_.joinable()) return;
  loop_->fail("this rank is ending");
  compute_thread_.join();
}

}  // namespace trireme::engine
