#include <chrono>
#include <deque>
#include <utility>

#include "base/check.h"
#include "launch/bench/ladder/engine_counters.h"
#include "launch/bench/ladder/padded_batch.h"
#include "launch/bench/ladder/workload_run.h"

namespace trireme::launch {
namespace {

using Clock = std::chrono::steady_clock;
using scheduler::FinishReason;

constexpr scheduler::TokenId kPaddingToken = 0;

class StaticBatches {
 public:
  StaticBatches(engine::RankRuntime& runtime, const ClosedLoop& loop, std::int32_t batch)
      : runtime_(runtime), loop_(loop), batch_(static_cast<std::size_t>(batch)) {}

  base::Result<WorkloadRun> run() {
    const std::size_t count = loop_.workload.size();
    run_.latencies_s.resize(count);
    run_.outputs.resize(count);
    const EngineCounters before(runtime_.engine());
    const Clock::time_point start = Clock::now();
    for (std::size_t client = 0; client < loop_.num_clients; ++client) send_next(start);
    while (!waiting_.empty()) answer_batch();
    run_.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (failed_) return base::unsupported("the model's logits are not finite");
    EngineCounters(runtime_.engine()).note_since(before, run_);
    return std::move(run_);
  }

 private:
  struct Waiting {
    std::size_t item;
    Clock::time_point sent;
  };

  void send_next(Clock::time_point now) {
    if (next_ < loop_.workload.size()) waiting_.push_back({next_++, now});
  }

  void answer_batch() {
    std::vector<Waiting> batch;
    std::vector<std::size_t> items;
    while (!waiting_.empty() && batch.size() < batch_) {
      batch.push_back(waiting_.front());
      items.push_back(waiting_.front().item);
      waiting_.pop_front();
    }
    const PaddedBatch padded = pad(loop_.workload, items);
    run_.padding_rows += padded.padding_rows;
    compute_prompt_padding(items, padded);
    compute_requests(items, padded);
    const Clock::time_point now = Clock::now();
    for (const Waiting& answered : batch) {
      run_.latencies_s[answered.item] = std::chrono::duration<double>(now - answered.sent).count();
      send_next(now);
    }
    num_answered_ += batch.size();
    if (loop_.progress) loop_.progress(num_answered_);
  }

  // Goes first, so that padding and requests have the same blocks one after the other: a row holds its own length only.
  void compute_prompt_padding(const std::vector<std::size_t>& items, const PaddedBatch& padded) {
    for (const std::size_t item : items) {
      const std::size_t missing = static_cast<std::size_t>(padded.prompt_tokens) - loop_.workload[item].prompt.size();
      if (missing == 0) continue;
      scheduler::Request padding;
      padding.prompt.assign(missing, kPaddingToken);
      padding.max_tokens = 0;
      submit(std::move(padding), [](const engine::GenerationEvent&) {});
    }
    pump_until_idle();
  }

  void compute_requests(const std::vector<std::size_t>& items, const PaddedBatch& padded) {
    for (const std::size_t item : items) {
      scheduler::Request request = request_of(loop_.workload[item]);
      const auto wanted = static_cast<std::size_t>(request.max_tokens);
      request.max_tokens = padded.output_tokens;
      submit(std::move(request), [this, item, wanted](const engine::GenerationEvent& event) {
        if (event.finish_reason == FinishReason::kNonFinite) failed_ = true;
        std::vector<scheduler::TokenId>& output = run_.outputs[item];
        if (event.token && output.size() < wanted) output.push_back(event.token->token);
      });
    }
    pump_until_idle();
  }

  void submit(scheduler::Request request, const engine::OutputCallback& callback) {
    const auto id = runtime_.engine().submit(std::move(request), callback, Clock::now());
    TRIREME_CHECK(id.ok()) << id.error().message;  // it was checked
  }

  void pump_until_idle() {
    while (!runtime_.engine().idle()) runtime_.pump();
  }

  engine::RankRuntime& runtime_;
  const ClosedLoop& loop_;
  const std::size_t batch_;
  std::deque<Waiting> waiting_;
  std::size_t next_ = 0, num_answered_ = 0;
  bool failed_ = false;
  WorkloadRun run_;
};

}  // namespace

base::Result<WorkloadRun> run_static_batches(engine::RankRuntime& runtime, const ClosedLoop& loop, std::int32_t batch) {
  if (const auto fits = check_fits(runtime, loop.workload); !fits) return fits.error();
  runtime.engine().set_batching({});  // what is submitted runs at once
  return StaticBatches(runtime, loop, batch).run();
}

}  // namespace trireme::launch
