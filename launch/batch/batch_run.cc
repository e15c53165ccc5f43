#include "launch/batch/batch_run.h"

#include <algorithm>
#include <utility>

namespace trireme::launch {
namespace {

// Prompts that wait in the engine, beside what runs: enough for the scheduler to choose from.
constexpr std::size_t kMaxPromptTokens = std::size_t{1} << 22;
constexpr std::size_t kMinWaiting = 16;

// As many again as can run, per replica, so that no step waits for a line.
std::size_t max_sequences(const engine::RankPlan& plan) {
  const auto running = static_cast<std::size_t>(plan.max_batch);
  return static_cast<std::size_t>(plan.layout.num_replicas()) * (running + std::max(running, kMinWaiting));
}

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

BatchRun::BatchRun(const BatchParts& parts) : parts_(parts), max_sequences_(max_sequences(parts.runtime->plan())) {}

BatchEnd BatchRun::run() {
  const Clock::time_point start = Clock::now();
  BatchEnd end = BatchEnd::kComplete;
  while (true) {
    const Clock::time_point now = Clock::now();
    const StopPolicy::Phase phase = look_for_stop(now);
    if (parts_.writer->has_failed()) {
      end = BatchEnd::kFailed;
      break;
    }
    if (phase == StopPolicy::Phase::kStopped) {
      end = BatchEnd::kStopped;
      break;
    }
    if (phase == StopPolicy::Phase::kRunning) admit(now);
    if (flights_.empty()) {
      if (phase == StopPolicy::Phase::kDraining) end = BatchEnd::kStopped;
      if (phase == StopPolicy::Phase::kDraining || parts_.source->is_drained()) break;
    }
    parts_.runtime->pump();
    land_finished();
    if (parts_.progress->is_due(now)) parts_.progress->show(now, progress_point());
  }
  parts_.writer->close();  // what is finished is written and synced while the engine comes to rest
  give_up_flights();
  while (!parts_.runtime->engine().idle()) parts_.runtime->pump();
  parts_.totals->seconds = seconds_between(start, Clock::now());
  parts_.progress->finish();
  if (end == BatchEnd::kComplete && !parts_.source->status()) end = BatchEnd::kFailed;
  return end;
}

StopPolicy::Phase BatchRun::look_for_stop(Clock::time_point now) {
  while (const auto signal = parts_.signals->poll()) parts_.stop->on_signal(*signal, now);
  return parts_.stop->phase(now);
}

bool BatchRun::has_room() const {
  return num_sequences_ < max_sequences_ && num_prompt_tokens_ < kMaxPromptTokens && !parts_.writer->is_behind();
}

void BatchRun::admit(Clock::time_point now) {
  while (has_room()) {
    auto line = parts_.source->try_next();
    if (!line) return;
    if (auto* error = std::get_if<RequestError>(&line->request)) {
      refuse(std::move(line->identity), std::move(*error));
    } else {
      submit(std::move(*line), now);
    }
  }
}

void BatchRun::refuse(RowIdentity identity, RequestError error) {
  parts_.writer->push({std::move(identity), std::move(error)});
  ++parts_.totals->num_errors;
}

void BatchRun::submit(PreparedLine line, Clock::time_point now) {
  auto flight = std::make_unique<Flight>();
  flight->identity = std::move(line.identity);
  flight->work.request = std::get<scheduler::Request>(std::move(line.request));
  const scheduler::Request& request = flight->work.request;
  flight->num_unfinished = static_cast<std::size_t>(request.num_choices);
  flight->work.choices.resize(flight->num_unfinished);
  flight->submitted = now;
  const auto id = parts_.runtime->engine().submit(
      request, [this, raw = flight.get()](const engine::GenerationEvent& event) { collect(*raw, event); }, now);
  if (!id) return refuse(std::move(flight->identity), {"", id.error().message});
  flight->id = *id;
  num_sequences_ += flight->num_unfinished;
  num_prompt_tokens_ += request.prompt.size();
  flights_.emplace(flight->identity.line, std::move(flight));
}

void BatchRun::collect(Flight& flight, const engine::GenerationEvent& event) {
  if (event.token) {
    if (flight.num_tokens == 0) flight.first_token = Clock::now();
    ++flight.num_tokens;
    ++num_tokens_;
  }
  flight.work.choices[event.choice_index].add(event);
  if (event.finish_reason == scheduler::FinishReason::kNone) return;
  --num_sequences_;
  if (--flight.num_unfinished == 0) finished_.push_back(flight.identity.line);
}

void BatchRun::land_finished() {
  if (finished_.empty()) return;
  const Clock::time_point now = Clock::now();
  for (const std::uint64_t line : finished_) {
    Flight& flight = *flights_.at(line);
    BatchTotals& totals = *parts_.totals;
    ++(all_finite(flight.work.choices) ? totals.num_completed : totals.num_errors);
    totals.prompt_tokens += flight.work.request.prompt.size();
    totals.output_tokens += flight.num_tokens;
    totals.latency.add(seconds_between(flight.submitted, now));
    if (flight.num_tokens > 0) totals.first_token.add(seconds_between(flight.submitted, flight.first_token));
    const std::size_t num_choices = flight.work.choices.size();
    if (flight.num_tokens > num_choices) {
      const auto gaps = static_cast<double>(flight.num_tokens - num_choices);
      const double decoding = seconds_between(flight.first_token, now) * static_cast<double>(num_choices);
      totals.per_token.add(decoding / gaps);
    }
    num_prompt_tokens_ -= flight.work.request.prompt.size();
    parts_.writer->push({std::move(flight.identity), std::move(flight.work)});
    flights_.erase(line);
  }
  finished_.clear();
}

void BatchRun::give_up_flights() {
  for (const auto& [line, flight] : flights_) parts_.runtime->engine().cancel(flight->id);
  flights_.clear();
}

ProgressPoint BatchRun::progress_point() const {
  const BatchTotals& totals = *parts_.totals;
  ProgressPoint point;
  point.num_lines = totals.num_lines;
  point.num_done = totals.num_done_before + totals.num_completed + totals.num_errors;
  point.num_errors = totals.num_errors_before + totals.num_errors;
  point.num_tokens = num_tokens_;
  std::int64_t free = 0, all = 0;
  for (const scheduler::SchedulerStats& stats : parts_.runtime->engine().stats()) {
    point.num_running += static_cast<std::uint64_t>(stats.num_running);
    for (const std::int32_t blocks : stats.free_blocks) free += blocks;
    for (const std::int32_t blocks : stats.total_blocks) all += blocks;
  }
  if (all > 0) point.kv_use = 1.0 - static_cast<double>(free) / static_cast<double>(all);
  return point;
}

}  // namespace trireme::launch
