// A library to preload into a rank (LD_PRELOAD) that lets a test hurt it from inside, by a signal:
// - SIGUSR1: the process ends with exit code 0, without MPI_Finalize, as if a library had called exit.
// - SIGUSR2: the next allocation on the compute thread fails, as if the host had run out of memory.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<bool> fail_next_allocation{false};

bool on_compute_thread() {
  char name[16] = {};
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 && std::strcmp(name, "compute") == 0;
}

void end_without_finalizing(int) {
  _exit(0);
}

void arm(int) {
  fail_next_allocation.store(true);
}

[[gnu::constructor]] void install() {
  signal(SIGUSR1, end_without_finalizing);
  signal(SIGUSR2, arm);
}

}  // namespace

void* operator new(std::size_t size) {
  if (fail_next_allocation.load(std::memory_order_relaxed) && on_compute_thread() &&
      fail_next_allocation.exchange(false)) {
    throw std::bad_alloc();
  }
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
