// ServingThread: a whole server in this process, its engine on a thread of its own, for tests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "launch/log.h"
#include "launch/server/core/endpoint.h"
#include "launch/server/metrics/metrics.h"
#include "launch/server/serving.h"
#include "tests/support/cluster.h"

namespace trireme::server {

class ServingThread {
 public:
  // Waits until the model is served. `endpoints` outlive this.
  explicit ServingThread(config::Config config, std::vector<Endpoint*> endpoints = {}, int num_ranks = 1)
      : config_(std::move(config)), endpoints_(std::move(endpoints)) {
    endpoints_.push_back(&probe_);
    thread_ = std::thread([this, num_ranks] {
      test::with_cluster(config_, num_ranks, [this](engine::RankRuntime& runtime) { run(runtime); });
    });
    probe_.wait();
  }
  ~ServingThread() {
    num_signals_ = 2;
    thread_.join();
  }

  void signal() { ++num_signals_; }
  RequestService& service() { return *probe_.service; }
  const ServedModel& model() { return *probe_.model; }
  const Metrics& metrics() const { return metrics_; }
  StopKind join() {
    thread_.join();
    thread_ = std::thread([] {});
    return kind_;
  }

 private:
  struct Probe final : Endpoint {
    void serve(RequestService& given_service, const ServedModel& given_model) override {
      const std::lock_guard lock(mutex);
      service = &given_service;
      model = &given_model;
      served.notify_all();
    }
    void stop() override {}
    void wait() {
      std::unique_lock lock(mutex);
      served.wait(lock, [this] { return service != nullptr; });
    }

    std::mutex mutex;
    std::condition_variable served;
    RequestService* service = nullptr;
    const ServedModel* model = nullptr;
  };

  void run(engine::RankRuntime& runtime) {
    const ServingParts parts{.config = config_,
                             .endpoints = endpoints_,
                             .observer = metrics_,
                             .num_stop_signals = [this] { return num_signals_.load(); },
                             .log = log_};
    kind_ = serve_until_stopped(runtime, parts);
  }

  const config::Config config_;
  Probe probe_;
  std::vector<Endpoint*> endpoints_;
  Metrics metrics_{false};
  launch::Log log_;
  std::atomic<int> num_signals_{0};
  std::atomic<StopKind> kind_{StopKind::kDrained};
  std::thread thread_;
};

inline std::string test_model() {
  return std::string(TRIREME_TEST_DATA) + "/models/llama";
}

}  // namespace trireme::server
