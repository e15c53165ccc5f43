#include "launch/stop_signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace trireme::launch {
namespace {

sigset_t stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) ::sigaddset(&signals, number);
  return signals;
}

}  // namespace

void block_stop_signals() {
  const sigset_t signals = stop_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

StopSignals::StopSignals() {
  const sigset_t signals = stop_signals();
  descriptor_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
}

StopSignals::~StopSignals() {
  ::close(descriptor_);
}

std::optional<StopSignal> StopSignals::poll() {
  signalfd_siginfo info{};
  if (::read(descriptor_, &info, sizeof info) != sizeof info) return std::nullopt;
  return info.ssi_signo == SIGUSR1 ? StopSignal::kDrain : StopSignal::kStop;
}

}  // namespace trireme::launch
