// ServiceStats: what the service is doing, as of a moment ago. Plain data for health, metrics and dashboard.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/engine/step_log.h"
#include "scheduler/scheduler.h"

namespace trireme::server {

struct ServiceStats {
  std::int64_t num_waiting = 0;  // requests: taken, none of their choices has started
  std::int64_t num_running = 0;  // requests: started, not ended
  std::int64_t waiting_tokens = 0;
  std::int64_t response_cache_hits = 0;
  std::int64_t response_cache_queries = 0;
  std::int64_t num_dialogues = 0;
  std::vector<engine::ReplicaTotals> totals;        // where the stages' time went
  std::vector<scheduler::SchedulerStats> replicas;  // blocks, sequences, preemptions and prefix hits of each
};

}  // namespace trireme::server
