// Metrics: counts what happens to requests, and writes all figures of the server in Prometheus' text format. Any
// thread; observing takes no longer than a few additions.
#pragma once

#include <memory>
#include <string>

#include "launch/server/core/service_observer.h"
#include "launch/server/core/service_stats.h"

namespace trireme::server {

class Metrics final : public ServiceObserver {
 public:
  // `compat_vllm`: every figure also under the name that vLLM's dashboards read.
  explicit Metrics(bool compat_vllm);
  ~Metrics() override;

  void on_refused(Refusal::Kind kind) override;
  void on_started(const RequestRecord& record) override;
  void on_first_token(const RequestRecord& record) override;
  void on_next_token(std::chrono::duration<double> since_last) override;
  void on_choice_finished(scheduler::FinishReason reason) override;
  void on_ended(const RequestRecord& record) override;

  // An answer with an error status, for the endpoint that gave it ("http", "thrift").
  void on_error(const std::string& endpoint, const std::string& kind);

  // Text format 0.0.4. `model_name` labels every figure; empty: not loaded yet.
  std::string text(const ServiceStats& stats, const std::string& model_name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::server
