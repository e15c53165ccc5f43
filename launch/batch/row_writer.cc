#include "launch/batch/row_writer.h"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <utility>

namespace trireme::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSyncInterval{1000};
constexpr std::uint64_t kMaxUnsyncedRows = 1000;

std::size_t weight_of(const FinishedLine& line) {
  std::size_t weight = sizeof(FinishedLine);
  if (const auto* finished = std::get_if<FinishedRequest>(&line.outcome)) {
    weight += finished->request.prompt.size() * sizeof(scheduler::TokenId);
    for (const engine::Generation& choice : finished->choices) {
      weight += choice.text.size() + choice.tokens.size() * sizeof(scheduler::SampledToken);
    }
  }
  return weight;
}

}  // namespace

RowWriter::RowWriter(ResultLog& log, RowContext context)
    : log_(log), context_(std::move(context)), queue_(QueueLimits{}), thread_([this] { run(); }) {}

RowWriter::~RowWriter() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

void RowWriter::push(FinishedLine line) {
  const std::size_t weight = weight_of(line);
  queue_.push_beyond(std::move(line), weight);
}

void RowWriter::run() {
  ::pthread_setname_np(::pthread_self(), "output");
  try {
    status_ = write_all();
  } catch (const std::exception& failure) {
    status_ = base::resource_exhausted(log_.path() + ": writing failed: " + failure.what());
  }
  if (status_.ok()) return;
  failed_.store(true);
  (void)log_.sync();  // what was appended before the failure, if the disk takes it
}

base::Status RowWriter::write_all() {
  std::uint64_t unsynced = 0;
  Clock::time_point oldest;  // of the unsynced rows
  while (!queue_.is_drained()) {
    const auto line = queue_.pop_within(kSyncInterval);
    if (line) {
      if (unsynced == 0) oldest = Clock::now();
      if (auto status = write(*line); !status) return status;
      ++unsynced;
    }
    if (unsynced == 0 || (unsynced < kMaxUnsyncedRows && Clock::now() - oldest < kSyncInterval)) continue;
    if (auto status = log_.sync(); !status) return status;
    unsynced = 0;
  }
  return log_.sync();
}

base::Status RowWriter::write(const FinishedLine& line) {
  std::string row;
  if (const auto* error = std::get_if<RequestError>(&line.outcome)) {
    row = error_row(line.identity, *error);
  } else {
    const auto& finished = std::get<FinishedRequest>(line.outcome);
    row = result_row(context_, line.identity, finished.request, finished.choices);
  }
  return log_.append(line.identity.line, row);
}

base::Error RowWriter::with_last_row(const base::Error& error) const {
  const DurableRows& durable = log_.durable();
  const std::string rows = durable.num_rows == 0
                               ? "no row is durable"
                               : std::to_string(durable.num_rows) + " rows are durable, the last of line " +
                                     std::to_string(durable.last_line);
  return {error.code, error.message + "; " + rows + "; the same command goes on from there"};
}

base::Status RowWriter::finish() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
  if (status_.ok()) return status_;
  return with_last_row(status_.error());
}

}  // namespace trireme::launch
