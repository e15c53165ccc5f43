#include "launch/server/core/service_settings.h"

#include <algorithm>
#include <chrono>

namespace trireme::server {

ServiceLimits service_limits(const config::ServerConfig& config, std::size_t num_tenants) {
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

}  // namespace trireme::server
