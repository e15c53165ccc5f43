// ThreadPool: the compute threads of one rank. The calling thread takes part, so a pool of one starts no thread.
// Workers spin briefly for the next task, then sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace trireme::kernels {

class ThreadPool {
 public:
  // Core ids to pin thread 0 (the caller of parallel_for), 1, … to; empty: not pinned. Thread 0 pins
  // itself by pin_caller().
  explicit ThreadPool(int num_threads, std::vector<int> cores = {});
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int num_threads() const;
  void pin_caller();

  // Runs task(i) for each i in [0, num_tasks) and returns when all are done. Which thread runs a task is not fixed, so
  // a task must not depend on it. The first exception of a task is rethrown when all are done. Tasks must not call
  // parallel_for. One caller at a time.
  void parallel_for(std::int64_t num_tasks, const std::function<void(std::int64_t)>& task);

  // Counts finished tasks; any thread may read it, e.g. a watchdog that wants to see progress.
  const std::atomic<std::uint64_t>& progress() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::kernels
