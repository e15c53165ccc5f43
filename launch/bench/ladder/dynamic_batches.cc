#include <chrono>
#include <optional>
#include <utility>
#include <variant>

#include "launch/bench/ladder/engine_counters.h"
#include "launch/bench/ladder/workload_run.h"

namespace trireme::launch {
namespace {

using Clock = std::chrono::steady_clock;
using scheduler::FinishReason;

// The figures are taken where the clients are.
class NoObserver final : public server::ServiceObserver {
 public:
  void on_refused(server::Refusal::Kind) override {}
  void on_started(const server::RequestRecord&) override {}
  void on_first_token(const server::RequestRecord&) override {}
  void on_next_token(std::chrono::duration<double>) override {}
  void on_choice_finished(FinishReason) override {}
  void on_ended(const server::RequestRecord&) override {}
};

// Clients of the service, all on the engine's thread.
class Clients {
 public:
  Clients(server::RequestService& service, const ClosedLoop& loop, WorkloadRun& run)
      : service_(service), loop_(loop), run_(run), clients_(loop.num_clients) {}

  bool done() const { return num_answered_ == loop_.workload.size(); }

  // Every client reads what has come for it, and sends its next request if it waits for none.
  base::Status turn() {
    for (std::optional<Client>& client : clients_) {
      if (client && read(*client)) client.reset();
      if (client || next_ == loop_.workload.size()) continue;
      if (const auto sent = send(client); !sent) return sent;
    }
    return error_ ? base::Status(*error_) : base::ok_status();
  }

 private:
  struct Client {
    std::size_t item = 0;
    Clock::time_point sent;
    server::ActiveRequest request;
  };

  base::Status send(std::optional<Client>& client) {
    server::Submission submission;
    submission.request = request_of(loop_.workload[next_]);
    submission.determined = true;
    const Clock::time_point now = Clock::now();
    auto taken = service_.submit(std::move(submission));
    if (const auto* refusal = std::get_if<server::Refusal>(&taken)) return base::invalid_argument(refusal->message);
    client.emplace(Client{next_++, now, std::get<server::ActiveRequest>(std::move(taken))});
    if (client->request.from_response_cache()) ++run_.response_hits;
    return base::ok_status();
  }

  // True once the request is over.
  bool read(Client& client) {
    const server::TokenStream::Batch batch = client.request.take();
    for (const server::EventPtr& event : batch.events) {
      if (event->token) run_.outputs[client.item].push_back(event->token->token);
      if (event->finish_reason == FinishReason::kNonFinite)
        error_ = base::unsupported("the model's logits are not finite");
    }
    if (!batch.end) return false;
    if (batch.end->kind != server::StreamEnd::Kind::kComplete) error_ = base::resource_exhausted(batch.end->message);
    run_.latencies_s[client.item] = std::chrono::duration<double>(Clock::now() - client.sent).count();
    ++num_answered_;
    if (loop_.progress) loop_.progress(num_answered_);
    return true;
  }

  server::RequestService& service_;
  const ClosedLoop& loop_;
  WorkloadRun& run_;
  std::vector<std::optional<Client>> clients_;
  std::size_t next_ = 0, num_answered_ = 0;
  std::optional<base::Error> error_;
};

// The clients are gone before the service is.
base::Status serve_clients(engine::RankRuntime& runtime, server::RequestService& service, const ClosedLoop& loop,
                           WorkloadRun& run) {
  Clients clients(service, loop, run);
  while (!clients.done()) {
    if (const auto status = clients.turn(); !status) return status;
    service.turn(Clock::now());
    runtime.pump();
  }
  return base::ok_status();
}

}  // namespace

base::Result<WorkloadRun> run_dynamic_batches(engine::RankRuntime& runtime, const ClosedLoop& loop,
                                              const scheduler::BatchingPolicy& policy,
                                              const server::ServiceLimits& limits) {
  if (const auto fits = check_fits(runtime, loop.workload); !fits) return fits.error();
  WorkloadRun run;
  run.latencies_s.resize(loop.workload.size());
  run.outputs.resize(loop.workload.size());
  runtime.engine().set_batching(policy);
  const EngineCounters before(runtime.engine());
  NoObserver observer;
  server::RequestService service(runtime.engine(), limits, observer, [&runtime] { runtime.wake(); });
  const Clock::time_point start = Clock::now();
  const base::Status served = serve_clients(runtime, service, loop, run);
  run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  // What clients have left is cancelled, and the last steps come home.
  do {
    service.turn(Clock::now());
    runtime.pump();
  } while (!runtime.engine().idle());
  if (!served) return served.error();
  EngineCounters(runtime.engine()).note_since(before, run);
  return run;
}

}  // namespace trireme::launch
