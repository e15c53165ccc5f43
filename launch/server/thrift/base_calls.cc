// The methods of BaseService.
#include "launch/server/thrift/inference_calls.h"
#include "launch/version.h"

namespace trireme::thrift {

void InferenceCalls::getName(Done<Text> done) {
  done("trireme");
}

void InferenceCalls::getVersion(Done<Text> done) {
  done(launch::version());
}

api::Status::type InferenceCalls::status() const {
  const Served* served = api_.served.load(std::memory_order_acquire);
  if (served == nullptr) return api::Status::STARTING;
  return served->service->draining() ? api::Status::STOPPING : api::Status::ALIVE;
}

void InferenceCalls::getStatus(Done<api::Status::type> done) {
  done(status());
}

void InferenceCalls::getStatusDetails(Done<Text> done) {
  switch (status()) {
    case api::Status::STARTING: return done("loading the model");
    case api::Status::STOPPING: return done("draining: what runs may end, nothing new is taken");
    default: return done("serving " + api_.served.load()->model->names.front());
  }
}

std::map<std::string, std::int64_t> InferenceCalls::counters() const {
  std::map<Text, std::int64_t> result;
  result["connections"] = static_cast<std::int64_t>(api_.server->num_connections());
  const Served* served = api_.served.load(std::memory_order_acquire);
  if (served == nullptr) return result;
  const server::ServiceStats stats = served->service->stats();
  result["requests_running"] = stats.num_running;
  result["requests_waiting"] = stats.num_waiting;
  result["tokens_waiting"] = stats.waiting_tokens;
  result["response_cache_hits"] = stats.response_cache_hits;
  result["response_cache_queries"] = stats.response_cache_queries;
  result["dialogues"] = stats.num_dialogues;
  for (const auto& totals : stats.totals) {
    result["steps"] += static_cast<std::int64_t>(totals.num_steps);
    result["prefill_tokens"] += static_cast<std::int64_t>(totals.prefill_tokens);
    result["decode_tokens"] += static_cast<std::int64_t>(totals.decode_tokens);
  }
  for (const auto& replica : stats.replicas) {
    result["preemptions"] += replica.num_preemptions;
    result["prefix_hit_tokens"] += replica.prefix_hit_tokens;
    result["prefix_query_tokens"] += replica.prefix_query_tokens;
  }
  return result;
}

void InferenceCalls::getCounters(Done<std::map<Text, std::int64_t>> done) {
  done(counters());
}

void InferenceCalls::getCounter(Done<std::int64_t> done, const Text& key) {
  const auto all = counters();
  const auto found = all.find(key);
  done(found == all.end() ? 0 : found->second);
}

void InferenceCalls::aliveSince(Done<std::int64_t> done) {
  done(api_.alive_since);
}

}  // namespace trireme::thrift
