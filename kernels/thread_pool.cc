// Work is claimed from one 64-bit ticket: the epoch of the parallel_for in the upper half, the next task in the lower.
// A worker reads the task of an epoch and then claims by compare-and-swap; success proves that this epoch still had an
// unfinished task, hence that what it read belongs to it. So the caller need not wait for workers that came too late to
// find a task, as happens where there are more threads than cores.
#include "kernels/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <exception>
#include <mutex>
#include <utility>

#include <chrono>
#include <thread>

#include "base/check.h"

namespace trireme::kernels {
namespace {

using Task = std::function<void(std::int64_t)>;

constexpr auto kSpinTime = std::chrono::microseconds(40);
constexpr int kPausesPerClockRead = 32;
constexpr std::uint64_t kTaskMask = 0xFFFFFFFFu;

void pause_cpu() {
  __builtin_ia32_pause();
}

// Waits until `done`, spinning at most kSpinTime; false where the time was over first.
template <typename Predicate>
bool spin_until(Predicate done) {
  const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      if (done()) return true;
      pause_cpu();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  return done();
}

void pin(pthread_t thread, int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<unsigned>(core), &cores);
  const int error = pthread_setaffinity_np(thread, sizeof(cores), &cores);
  TRIREME_CHECK(error == 0) << "pthread_setaffinity_np to core " << core << ": error " << error;
}

}  // namespace

struct ThreadPool::State {
  // Written by the caller of parallel_for only, before it publishes the epoch.
  std::atomic<const Task*> task{nullptr};
  std::atomic<std::int64_t> num_tasks{0};

  alignas(64) std::atomic<std::uint64_t> ticket{0};
  alignas(64) std::atomic<std::uint32_t> epoch{0};  // what sleeping workers wait on
  alignas(64) std::atomic<std::uint64_t> progress{0};
  std::atomic<std::uint64_t> awaited_progress{0};  // 0 unless the caller sleeps until progress gets there
  std::atomic<std::uint32_t> wake_caller{0};
  std::atomic<bool> stopping{false};

  std::mutex error_mutex;
  std::exception_ptr error;  // the first that a task threw

  std::vector<int> cores;
  std::vector<std::thread> workers;

  ~State();
  void run_guarded(const Task& claimed, std::int64_t index);
  bool run_one_task();
  void work();
  void wait_for(std::uint64_t target);
};

ThreadPool::State::~State() {
  stopping.store(true);
  epoch.fetch_add(1);
  epoch.notify_all();
  for (std::thread& worker : workers) worker.join();
}

void ThreadPool::State::run_guarded(const Task& claimed, std::int64_t index) {
  try {
    claimed(index);
  } catch (...) {
    const std::lock_guard lock(error_mutex);
    if (!error) error = std::current_exception();
  }
}

// False where no task is left.
bool ThreadPool::State::run_one_task() {
  std::uint64_t seen = ticket.load(std::memory_order_acquire);
  for (;;) {
    const Task* claimed = task.load(std::memory_order_acquire);
    const auto index = static_cast<std::int64_t>(seen & kTaskMask);
    if (index >= num_tasks.load(std::memory_order_acquire)) return false;
    if (!ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    run_guarded(*claimed, index);
    const std::uint64_t finished = progress.fetch_add(1) + 1;
    if (finished == awaited_progress.load()) {
      wake_caller.fetch_add(1);
      wake_caller.notify_one();
    }
    return true;
  }
}

void ThreadPool::State::work() {
  std::uint32_t seen = 0;
  while (!stopping.load()) {
    while (run_one_task()) {
    }
    const auto has_news = [&] { return epoch.load(std::memory_order_acquire) != seen; };
    if (!spin_until(has_news)) epoch.wait(seen, std::memory_order_acquire);
    seen = epoch.load(std::memory_order_acquire);
  }
}

void ThreadPool::State::wait_for(std::uint64_t target) {
  const auto is_done = [&] { return progress.load() == target; };  // ordered after awaited_progress, as in run_one_task
  if (spin_until(is_done)) return;
  const std::uint32_t seen = wake_caller.load();
  awaited_progress.store(target);
  while (!is_done() && wake_caller.load() == seen) wake_caller.wait(seen);
  awaited_progress.store(0);
}

ThreadPool::ThreadPool(int num_threads, std::vector<int> cores) : state_(std::make_unique<State>()) {
  TRIREME_CHECK(num_threads >= 1) << num_threads;
  TRIREME_CHECK(cores.empty() || cores.size() >= static_cast<std::size_t>(num_threads)) << cores.size();
  state_->cores = std::move(cores);
  for (int i = 1; i < num_threads; ++i) {
    state_->workers.emplace_back([state = state_.get()] { state->work(); });
    if (!state_->cores.empty()) pin(state_->workers.back().native_handle(), state_->cores[static_cast<std::size_t>(i)]);
  }
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::num_threads() const {
  return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::pin_caller() {
  if (!state_->cores.empty()) pin(pthread_self(), state_->cores[0]);
}

void ThreadPool::parallel_for(std::int64_t num_tasks, const Task& task) {
  State& state = *state_;
  TRIREME_CHECK(num_tasks <= static_cast<std::int64_t>(kTaskMask)) << num_tasks;
  if (num_tasks <= 1 || state.workers.empty()) {
    for (std::int64_t i = 0; i < num_tasks; ++i) {
      task(i);
      state.progress.fetch_add(1, std::memory_order_release);
    }
    return;
  }
  const std::uint64_t target = state.progress.load() + static_cast<std::uint64_t>(num_tasks);
  state.num_tasks.store(0, std::memory_order_release);  // nobody claims with a new task and an old count
  state.task.store(&task, std::memory_order_release);
  const std::uint32_t epoch = state.epoch.load() + 1;
  state.ticket.store(static_cast<std::uint64_t>(epoch) << 32, std::memory_order_release);
  state.num_tasks.store(num_tasks, std::memory_order_release);
  state.epoch.store(epoch);
  state.epoch.notify_all();
  while (state.run_one_task()) {
  }
  state.wait_for(target);
  if (state.error) std::rethrow_exception(std::exchange(state.error, nullptr));
}

const std::atomic<std::uint64_t>& ThreadPool::progress() const {
  return state_->progress;
}

}  // namespace trireme::kernels
