#include "launch/server/serving.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "launch/request_spec.h"
#include "launch/unix_time.h"

namespace trireme::server {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kSignalInterval{10};

std::vector<std::string> split_names(const std::string& names) {
  std::vector<std::string> result;
  std::size_t begin = 0;
  while (begin <= names.size()) {
    const std::size_t end = std::min(names.find(',', begin), names.size());
    if (end > begin) result.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

// The name of the file without its ending, or of the directory.
std::string name_of_file(const std::string& model_path) {
  std::filesystem::path path(model_path);
  if (!path.has_filename()) path = path.parent_path();
  return path.extension() == ".gguf" ? path.stem().string() : path.filename().string();
}

ServedModel describe(const config::Config& config, const engine::RankRuntime& runtime,
                     const launch::RequestBinder& binder) {
  ServedModel model;
  model.names = names_of_model(config).value();  // serve has seen to it
  for (const config::Adapter& adapter : runtime.adapters()) model.adapters.push_back(adapter.name);
  model.root = config.model.path;
  model.created = launch::seconds_since_1970();
  model.max_context = runtime.plan().max_context;
  model.vocab_size = runtime.description().vocab_size;
  model.tokenizer = &runtime.tokenizer();
  model.binder = &binder;
  return model;
}

ServiceLimits limits_of(const config::ServerConfig& config, std::size_t num_tenants) {
  ServiceLimits limits;
  limits.waiting.max_requests = static_cast<std::size_t>(config.max_waiting);
  limits.waiting.max_tokens = static_cast<std::size_t>(config.max_waiting_tokens);
  limits.waiting.several_tenants = num_tenants > 1;
  limits.stream_bytes = static_cast<std::size_t>(config.stream_buffer_bytes);
  limits.response_cache.max_entries = static_cast<std::size_t>(config.response_cache_entries);
  limits.response_cache.max_bytes = static_cast<std::size_t>(config.response_cache_bytes);
  limits.dialogues.max_dialogues = static_cast<std::size_t>(config.max_dialogues);
  limits.dialogues.max_idle = std::chrono::milliseconds(config.dialogue_idle_ms);
  return limits;
}

scheduler::BatchingPolicy batching_policy(const config::SchedulerConfig& config, std::int32_t max_batch) {
  scheduler::BatchingPolicy policy;
  policy.window = std::chrono::milliseconds(config.gather_window_ms);
  policy.mixed_prefill_tokens = config.mixed_prefill_tokens;
  policy.bucket_bounds = config.bucket_bounds;
  policy.bucket_cap = config.bucket_cap > 0 ? config.bucket_cap : std::max(1, max_batch / 2);
  policy.priority_worth = std::chrono::milliseconds(config.priority_ms);
  return policy;
}

// While it lives the endpoints serve: they let go of the service before it ends, whatever ends it.
class OpenEndpoints {
 public:
  OpenEndpoints(const std::vector<Endpoint*>& endpoints, RequestService& service, const ServedModel& model)
      : endpoints_(endpoints) {
    for (Endpoint* endpoint : endpoints_) endpoint->serve(service, model);
  }
  ~OpenEndpoints() {
    for (Endpoint* endpoint : endpoints_) endpoint->stop();
  }
  OpenEndpoints(const OpenEndpoints&) = delete;
  OpenEndpoints& operator=(const OpenEndpoints&) = delete;

 private:
  const std::vector<Endpoint*>& endpoints_;
};

class StopWatch {
 public:
  StopWatch(const ServingParts& parts, RequestService& service) : parts_(parts), service_(service) {}

  void look(Clock::time_point now) {
    if (now < next_look_) return;
    next_look_ = now + kSignalInterval;
    const int count = parts_.num_stop_signals();
    if (count > num_seen_ && num_seen_ == 0) {
      parts_.log.info("draining: what runs may end, nothing new is taken; a second signal ends at once");
      service_.drain(now + std::chrono::milliseconds(parts_.config.server.drain_limit_ms));
    }
    if (count > 1 && num_seen_ <= 1) {
      parts_.log.warn("a second signal: ending at once");
      service_.drain(now);
    }
    num_seen_ = count;
  }
  bool forced() const { return num_seen_ > 1; }

 private:
  const ServingParts& parts_;
  RequestService& service_;
  Clock::time_point next_look_{};
  int num_seen_ = 0;
};

}  // namespace

base::Result<std::vector<std::string>> names_of_model(const config::Config& config) {
  std::vector<std::string> names = split_names(config.server.model_names);
  if (names.empty()) names.push_back(name_of_file(config.model.path));
  for (const config::Adapter& adapter : config.model.adapters) {
    if (std::find(names.begin(), names.end(), adapter.name) == names.end()) continue;
    return base::invalid_argument("adapter '" + adapter.name +
                                  "' has the name of the model: give it another, or the model one by --model-name");
  }
  return names;
}

StopKind serve_until_stopped(engine::RankRuntime& runtime, const ServingParts& parts) {
  const launch::RequestBinder binder(runtime);
  const ServedModel model = describe(parts.config, runtime, binder);
  RequestService service(runtime.engine(), limits_of(parts.config.server, parts.num_tenants), parts.observer,
                         [&runtime] { runtime.wake(); });
  runtime.engine().set_batching(batching_policy(parts.config.scheduler, runtime.plan().max_batch));
  const OpenEndpoints open(parts.endpoints, service, model);
  parts.log.info("serving " + model.names.front() + ", context of " + std::to_string(model.max_context) + " tokens");
  StopWatch watch(parts, service);
  while (service.turn(Clock::now())) {
    watch.look(Clock::now());
    runtime.pump();
  }
  parts.log.info(watch.forced() ? "stopped" : "drained");
  return watch.forced() ? StopKind::kForced : StopKind::kDrained;
}

}  // namespace trireme::server
