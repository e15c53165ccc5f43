#include "launch/server/metrics/stats_families.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trireme::server {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class FamilyList {
 public:
  void begin(const std::string& name, const std::string& help, MetricType type) {
    families_.push_back({"trireme_" + name, help, type, {}});
  }
  void add(double value, Labels labels = {}) {
    ClientMetric metric;
    metric.label = std::move(labels);
    (families_.back().type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
    families_.back().metric.push_back(std::move(metric));
  }
  void single(const std::string& name, const std::string& help, MetricType type, double value) {
    begin(name, help, type);
    add(value);
  }
  std::vector<MetricFamily> take() { return std::move(families_); }

 private:
  std::vector<MetricFamily> families_;
};

Labels place(std::size_t replica, std::size_t stage) {
  return {{"replica", std::to_string(replica)}, {"stage", std::to_string(stage)}};
}

// Of the layer group that is fullest: it decides whether a sequence finds room.
double kv_usage(const scheduler::SchedulerStats& stats) {
  double usage = 0.0;
  for (std::size_t group = 0; group < stats.total_blocks.size(); ++group) {
    if (stats.total_blocks[group] == 0) continue;
    usage = std::max(usage, 1.0 - static_cast<double>(stats.free_blocks[group]) / stats.total_blocks[group]);
  }
  return usage;
}

template <typename Field>
double sum(const std::vector<scheduler::SchedulerStats>& replicas, Field field) {
  double total = 0.0;
  for (const auto& replica : replicas) total += static_cast<double>(replica.*field);
  return total;
}

void add_kv_usage(const ServiceStats& stats, FamilyList& list) {
  list.begin("kv_cache_usage_perc", "Share of the KV blocks that running sequences hold, from 0 to 1",
             MetricType::Gauge);
  for (std::size_t replica = 0; replica < stats.replicas.size(); ++replica) {
    const std::size_t stages = replica < stats.totals.size() ? stats.totals[replica].stages.size() : 1;
    for (std::size_t stage = 0; stage < stages; ++stage) {
      list.add(kv_usage(stats.replicas[replica]), place(replica, stage));
    }
  }
}

void add_stages(const ServiceStats& stats, FamilyList& list) {
  using engine::StageTotals;
  const auto family = [&](const std::string& name, const std::string& help, auto value) {
    list.begin(name, help, MetricType::Counter);
    for (std::size_t replica = 0; replica < stats.totals.size(); ++replica) {
      const auto& stages = stats.totals[replica].stages;
      for (std::size_t stage = 0; stage < stages.size(); ++stage) list.add(value(stages[stage]), place(replica, stage));
    }
  };
  const auto seconds = [](std::uint64_t us) { return static_cast<double>(us) * 1e-6; };
  family("stage_busy_seconds_total", "Time that a stage computed",
         [&](const StageTotals& totals) { return seconds(totals.busy_us); });
  family("stage_bubble_seconds_total",
         "Time that a stage had nothing to compute: no plan, or the stage before it was busy",
         [&](const StageTotals& totals) { return seconds(totals.wait_us); });
  family("stage_wait_seconds_total", "Time that a stage waited for hidden states on their way",
         [&](const StageTotals& totals) { return seconds(totals.receive_us); });
  family("stage_send_seconds_total", "Time that a stage waited to send hidden states on",
         [&](const StageTotals& totals) { return seconds(totals.send_us); });
  family("stage_sent_bytes_total", "Hidden states that a stage sent on",
         [](const StageTotals& totals) { return static_cast<double>(totals.sent_bytes); });
  family("stage_rows_total", "Tokens that a stage computed",
         [](const StageTotals& totals) { return static_cast<double>(totals.num_rows); });
}

}  // namespace

std::vector<MetricFamily> stats_families(const ServiceStats& stats) {
  using scheduler::SchedulerStats;
  FamilyList list;
  list.single("num_requests_running", "Requests that have started and not ended", MetricType::Gauge,
              static_cast<double>(stats.num_running));
  list.single("num_requests_waiting", "Requests that wait to start", MetricType::Gauge,
              static_cast<double>(stats.num_waiting));
  list.single("num_dialogues", "Dialogues that are open", MetricType::Gauge, static_cast<double>(stats.num_dialogues));
  add_kv_usage(stats, list);
  list.single("num_preemptions_total", "Sequences whose KV blocks were taken away, to be computed again",
              MetricType::Counter, sum(stats.replicas, &SchedulerStats::num_preemptions));
  list.single("prefix_cache_queries_total", "Prompt tokens that were looked up in the prefix cache",
              MetricType::Counter, sum(stats.replicas, &SchedulerStats::prefix_query_tokens));
  list.single("prefix_cache_hits_total", "Prompt tokens that the prefix cache had", MetricType::Counter,
              sum(stats.replicas, &SchedulerStats::prefix_hit_tokens));
  list.single("response_cache_queries_total", "Requests that were looked up in the response cache", MetricType::Counter,
              static_cast<double>(stats.response_cache_queries));
  list.single("response_cache_hits_total", "Requests that the response cache answered", MetricType::Counter,
              static_cast<double>(stats.response_cache_hits));
  add_stages(stats, list);
  return list.take();
}

}  // namespace trireme::server
