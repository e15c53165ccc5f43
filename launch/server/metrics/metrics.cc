#include "launch/server/metrics/metrics.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include "launch/server/metrics/stats_families.h"
#include "runtime/engine/generation.h"

namespace trireme::server {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;
using prometheus::MetricFamily;
using Buckets = Histogram::BucketBoundaries;

// 1-2-5 series from `first` to `last`.
Buckets buckets(double first, double last) {
  Buckets bounds;
  for (double decade = first; decade <= last * 1.001; decade *= 10.0) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (decade * factor <= last * 1.001) bounds.push_back(decade * factor);
    }
  }
  return bounds;
}

const char* name_of(Refusal::Kind kind) {
  switch (kind) {
    case Refusal::Kind::kInvalid: return "invalid";
    case Refusal::Kind::kNotFound: return "not_found";
    case Refusal::Kind::kOverloaded: return "overloaded";
    case Refusal::Kind::kShuttingDown: return "shutting_down";
  }
  return "other";
}

const char* name_of(StreamEnd::Kind kind) {
  switch (kind) {
    case StreamEnd::Kind::kComplete: return "complete";
    case StreamEnd::Kind::kRefused: return "invalid";
    case StreamEnd::Kind::kTooSlow: return "slow_client";
    case StreamEnd::Kind::kCancelled: return "cancelled";
    case StreamEnd::Kind::kShutdown: return "shutting_down";
  }
  return "other";
}

double seconds(RequestRecord::TimePoint from, RequestRecord::TimePoint to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

struct Metrics::Impl {
  Counter& counter(const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name("trireme_" + name).Help(help).Register(registry).Add({});
  }
  Family<Counter>& counters(const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name("trireme_" + name).Help(help).Register(registry);
  }
  Histogram& histogram(const std::string& name, const std::string& help, const Buckets& bounds) {
    return prometheus::BuildHistogram().Name("trireme_" + name).Help(help).Register(registry).Add({}, bounds);
  }

  prometheus::Registry registry;
  Counter& prompt_tokens = counter("prompt_tokens_total", "Prompt tokens of requests that have started");
  Counter& generation_tokens = counter("generation_tokens_total", "Output tokens");
  Counter& cancelled = counter("requests_cancelled_total", "Requests that their clients gave up");
  Family<Counter>& finished = counters("request_success_total", "Outputs that have ended, by reason");
  Family<Counter>& errors = counters("request_errors_total", "Requests that were refused or broken off, by kind");
  Family<Counter>& endpoint_errors = counters("endpoint_errors_total", "Answers of an endpoint that are errors");
  Histogram& first_token =
      histogram("time_to_first_token_seconds", "From arrival to the first token", buckets(0.001, 1000));
  Histogram& next_token =
      histogram("inter_token_latency_seconds", "Between two tokens of an output", buckets(0.001, 100));
  Histogram& whole = histogram("e2e_request_latency_seconds", "From arrival to end", buckets(0.001, 10000));
  Histogram& queue = histogram("request_queue_time_seconds", "From arrival to start", buckets(0.001, 1000));
  Histogram& prefill = histogram("request_prefill_time_seconds", "From start to the first token", buckets(0.001, 1000));
  Histogram& decode =
      histogram("request_decode_time_seconds", "From the first token to the last", buckets(0.001, 10000));
  Histogram& prompt_length = histogram("request_prompt_tokens", "Prompt tokens of a request", buckets(1, 1e6));
  Histogram& output_length = histogram("request_generation_tokens", "Output tokens of a request", buckets(1, 1e6));
  bool compat_vllm = false;
};

Metrics::Metrics(bool compat_vllm) : impl_(std::make_unique<Impl>()) {
  impl_->compat_vllm = compat_vllm;
  // From the beginning, so that the first of a kind is a step from 0 to 1.
  for (int reason = 1; reason <= static_cast<int>(scheduler::FinishReason::kNonFinite); ++reason) {
    impl_->finished.Add(
        {{"finished_reason", std::string(engine::to_string(static_cast<scheduler::FinishReason>(reason)))}});
  }
  for (const char* kind : {"invalid", "not_found", "overloaded", "shutting_down", "slow_client"}) {
    impl_->errors.Add({{"kind", kind}});
  }
}

Metrics::~Metrics() = default;

void Metrics::on_refused(Refusal::Kind kind) {
  impl_->errors.Add({{"kind", name_of(kind)}}).Increment();
}

void Metrics::on_started(const RequestRecord& record) {
  impl_->queue.Observe(seconds(record.submitted, record.started));
  impl_->prompt_tokens.Increment(static_cast<double>(record.prompt_tokens));
  impl_->prompt_length.Observe(static_cast<double>(record.prompt_tokens));
}

void Metrics::on_first_token(const RequestRecord& record) {
  impl_->generation_tokens.Increment();
  impl_->first_token.Observe(seconds(record.submitted, record.first_token));
  impl_->prefill.Observe(seconds(record.started, record.first_token));
}

void Metrics::on_next_token(std::chrono::duration<double> since_last) {
  impl_->generation_tokens.Increment();
  impl_->next_token.Observe(since_last.count());
}

void Metrics::on_choice_finished(scheduler::FinishReason reason) {
  impl_->finished.Add({{"finished_reason", std::string(engine::to_string(reason))}}).Increment();
}

void Metrics::on_ended(const RequestRecord& record) {
  if (record.end == StreamEnd::Kind::kCancelled) return impl_->cancelled.Increment();
  if (record.end != StreamEnd::Kind::kComplete) {
    return impl_->errors.Add({{"kind", name_of(record.end)}}).Increment();
  }
  impl_->whole.Observe(seconds(record.submitted, record.ended));
  if (record.from_response_cache) return;
  impl_->output_length.Observe(static_cast<double>(record.output_tokens));
  if (record.output_tokens > 1) impl_->decode.Observe(seconds(record.first_token, record.last_token));
}

void Metrics::on_error(const std::string& endpoint, const std::string& kind) {
  impl_->endpoint_errors.Add({{"endpoint", endpoint}, {"kind", kind}}).Increment();
}

std::string Metrics::text(const ServiceStats& stats, const std::string& model_name) const {
  std::vector<MetricFamily> families = stats_families(stats);
  for (MetricFamily& family : impl_->registry.Collect()) families.push_back(std::move(family));
  std::erase_if(families, [](const MetricFamily& family) { return family.metric.empty(); });
  if (!model_name.empty()) {
    for (MetricFamily& family : families) {
      for (auto& metric : family.metric) metric.label.push_back({"model_name", model_name});
    }
  }
  if (impl_->compat_vllm) {
    const std::size_t own = families.size();
    for (std::size_t i = 0; i < own; ++i) {
      MetricFamily copy = families[i];
      copy.name.replace(0, std::string("trireme_").size(), "vllm:");
      for (auto& metric : copy.metric) metric.label.push_back({"engine", "0"});
      families.push_back(std::move(copy));
    }
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace trireme::server
