#include "parallel/heartbeat.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "parallel/error.h"
#include "parallel/heartbeat_rendezvous.h"
#include "parallel/heartbeat_watch.h"

namespace trireme::parallel {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Peer {
  int rank;
  std::string host;
  HeartbeatConnection connection;
  HeartbeatWatch watch;
  bool left = false;  // said goodbye, or ended while a shutdown was expected
};

// Owner of an eventfd, by which other threads end a poll.
class WakeEvent {
 public:
  WakeEvent() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (fd_ < 0) throw ParallelError("heartbeat: eventfd failed");
  }
  ~WakeEvent() { ::close(fd_); }
  WakeEvent(const WakeEvent&) = delete;
  WakeEvent& operator=(const WakeEvent&) = delete;
  int fd() const { return fd_; }
  void set() const { ::eventfd_write(fd_, 1); }
  void clear() const {
    eventfd_t ignored = 0;
    ::eventfd_read(fd_, &ignored);
  }

 private:
  int fd_;
};

}  // namespace

// The heartbeat thread owns all but what `mutex` guards and the atomics.
struct Heartbeat::Impl {
  Impl(int own_rank, HeartbeatPeers connected, HeartbeatConfig used_config, std::function<RankActivity()> get_activity,
       std::function<void(const RankFailure&)> failure_callback);

  void run();
  void beat(Clock::time_point now);
  void wait_until(Clock::time_point deadline);
  void forgive_own_stall(Clock::time_point now);
  std::optional<RankFailure> hear(Clock::time_point now);
  std::optional<RankFailure> hear(Peer& peer, Clock::time_point now);
  std::optional<RankFailure> judge(Clock::time_point now) const;
  std::optional<RankFailure> own_failure();
  void announce(const RankFailure& failure);
  void say_goodbye();
  void linger(milliseconds limit);
  bool is_leader() const { return rank == 0; }

  const int rank;
  const std::string host;
  const HeartbeatConfig config;
  const std::function<RankActivity()> activity;
  const std::function<void(const RankFailure&)> on_failure;
  std::vector<Peer> peers;
  HeartbeatWatch own_watch;  // rank 0 judges itself, too, for hanging
  Clock::time_point next_beat, last_turn;
  Clock::time_point overslept_until{};  // this rank was stopped for so long that others took it for dead

  WakeEvent wake;
  std::atomic<bool> stop = false, shutdown_expected = false;
  bool say_farewell = true;  // written before stop

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<std::string> reported_cause;  // guarded by mutex, like ended
  bool ended = false;

  std::thread thread;
};

Heartbeat::Impl::Impl(int own_rank, HeartbeatPeers connected, HeartbeatConfig used_config,
                      std::function<RankActivity()> get_activity,
                      std::function<void(const RankFailure&)> failure_callback)
    : rank(own_rank),
      host(connected.hosts[static_cast<std::size_t>(own_rank)]),
      config(used_config),
      activity(std::move(get_activity)),
      on_failure(std::move(failure_callback)),
      own_watch(used_config, Clock::now()),
      next_beat(Clock::now()),
      last_turn(Clock::now()) {
  const int first = is_leader() ? 1 : 0;
  for (int peer = first; peer < first + static_cast<int>(connected.connections.size()) - first; ++peer) {
    auto& connection = connected.connections[static_cast<std::size_t>(peer)];
    peers.push_back({peer, connected.hosts[static_cast<std::size_t>(peer)], std::move(connection),
                     HeartbeatWatch(config, Clock::now())});
  }
}

// Beats, listens and judges, until a failure is known or the owner ends it.
void Heartbeat::Impl::run() {
  std::optional<RankFailure> failure;
  while (!stop && !failure) {
    auto now = Clock::now();
    if (now >= next_beat) beat(now);
    wait_until(next_beat);
    now = Clock::now();
    forgive_own_stall(now);
    failure = hear(now);  // what came meanwhile counts before anything is judged
    if (failure && now < overslept_until)
      failure = RankFailure{rank, host, "was stopped, and the others went on without it"};
    if (!failure) failure = judge(now);
    if (!failure) failure = own_failure();
  }
  if (failure) {
    if (is_leader()) announce(*failure);
  } else if (say_farewell) {
    say_goodbye();
  }
  {
    const std::lock_guard lock(mutex);
    ended = true;
  }
  changed.notify_all();
  if (failure) on_failure(*failure);
}

void Heartbeat::Impl::beat(Clock::time_point now) {
  const RankActivity own = activity();
  own_watch.beat(now, own);
  HeartbeatMessage message;
  message.rank = rank;
  message.holds_plan = own.holds_plan ? 1 : 0;
  message.progress = own.progress;
  for (Peer& peer : peers) {
    if (!peer.left) peer.connection.send(message);
  }
  next_beat = std::max(next_beat + config.period, now);
}

void Heartbeat::Impl::wait_until(Clock::time_point deadline) {
  std::vector<pollfd> entries{{wake.fd(), POLLIN, 0}};
  for (const Peer& peer : peers) {
    if (peer.left) continue;
    const short events = peer.connection.has_unsent() ? POLLIN | POLLOUT : POLLIN;
    entries.push_back({peer.connection.fd(), events, 0});
  }
  const auto left = std::max(milliseconds{0}, std::chrono::ceil<milliseconds>(deadline - Clock::now()));
  ::poll(entries.data(), entries.size(), static_cast<int>(left.count()));
  wake.clear();
}

// A turn lasts a period at most; what is beyond, this thread did not run (an overloaded or suspended machine).
void Heartbeat::Impl::forgive_own_stall(Clock::time_point now) {
  const auto stall = now - last_turn - config.period;
  last_turn = now;
  if (stall < config.period / 2) return;
  // Then it is the others who gave this rank up, and their leaving is no failure of theirs.
  const auto limit = config.period * config.max_missed_beats;
  if (stall + config.period >= limit) overslept_until = now + limit;
  own_watch.forgive(stall);
  for (Peer& peer : peers) peer.watch.forgive(stall);
}

std::optional<RankFailure> Heartbeat::Impl::hear(Clock::time_point now) {
  for (Peer& peer : peers) {
    if (peer.left) continue;
    peer.connection.flush();
    if (auto failure = hear(peer, now)) return failure;
  }
  return std::nullopt;
}

std::optional<RankFailure> Heartbeat::Impl::hear(Peer& peer, Clock::time_point now) {
  while (const auto message = peer.connection.receive()) {
    switch (message->kind) {
      case HeartbeatKind::kBeat: peer.watch.beat(now, {message->holds_plan != 0, message->progress}); break;
      case HeartbeatKind::kFailure: return failure_of(*message);
      case HeartbeatKind::kGoodbye: peer.left = true; break;
      case HeartbeatKind::kHello:
      case HeartbeatKind::kWelcome: return RankFailure{peer.rank, peer.host, "unexpected heartbeat message"};
    }
  }
  const auto& closed = peer.connection.closed();
  if (closed && shutdown_expected) peer.left = true;
  if (peer.left) peer.connection.close();
  if (!closed || peer.left) return std::nullopt;
  return RankFailure{peer.rank, peer.host, *closed == "closed" ? "connection closed" : "connection lost: " + *closed};
}

// Only rank 0 judges progress; the others just watch whether rank 0 lives.
std::optional<RankFailure> Heartbeat::Impl::judge(Clock::time_point now) const {
  for (const Peer& peer : peers) {
    if (peer.left) continue;
    auto cause = peer.watch.missing(now);
    if (!cause && is_leader()) cause = peer.watch.hung();
    if (cause) return RankFailure{peer.rank, peer.host, *cause};
  }
  if (!is_leader()) return std::nullopt;
  if (const auto cause = own_watch.hung()) return RankFailure{rank, host, *cause};
  return std::nullopt;
}

// A cause that this rank reported: rank 0 acts on it, any other tells rank 0, which will answer to all.
std::optional<RankFailure> Heartbeat::Impl::own_failure() {
  std::optional<std::string> cause;
  {
    const std::lock_guard lock(mutex);
    cause = std::exchange(reported_cause, std::nullopt);
  }
  if (!cause) return std::nullopt;
  const RankFailure failure{rank, host, *cause};
  if (is_leader()) return failure;
  for (Peer& peer : peers) peer.connection.send(make_failure(failure));
  return std::nullopt;
}

void Heartbeat::Impl::announce(const RankFailure& failure) {
  for (Peer& peer : peers) {
    if (!peer.left) peer.connection.send(make_failure(failure));
  }
  linger(milliseconds{100});
}

void Heartbeat::Impl::say_goodbye() {
  HeartbeatMessage message;
  message.kind = HeartbeatKind::kGoodbye;
  message.rank = rank;
  for (Peer& peer : peers) {
    if (!peer.left) peer.connection.send(message);
  }
  linger(milliseconds{100});
}

// Sends what the sockets did not take at once.
void Heartbeat::Impl::linger(milliseconds limit) {
  const auto has_unsent = [](const Peer& peer) { return !peer.left && peer.connection.has_unsent(); };
  const auto deadline = Clock::now() + limit;
  while (std::any_of(peers.begin(), peers.end(), has_unsent) && Clock::now() < deadline) {
    ::poll(nullptr, 0, 1);
    for (Peer& peer : peers) peer.connection.flush();
  }
}

Heartbeat::Heartbeat(Communicator& communicator, HeartbeatConfig config, std::function<RankActivity()> activity,
                     std::function<void(const RankFailure&)> on_failure) {
  TRIREME_CHECK(config.period.count() > 0 && config.max_missed_beats > 0 && config.hang_limit >= config.period);
  impl_ = std::make_unique<Impl>(communicator.rank(), connect_heartbeats(communicator, config.connect_limit), config,
                                 std::move(activity), std::move(on_failure));
  impl_->thread = std::thread([impl = impl_.get()] { impl->run(); });
}

Heartbeat::~Heartbeat() {
  impl_->say_farewell = std::uncaught_exceptions() == 0;
  impl_->stop = true;
  impl_->wake.set();
  impl_->thread.join();
}

void Heartbeat::report_own_failure(const std::string& cause) {
  constexpr std::chrono::seconds kLimit{1};
  std::unique_lock lock(impl_->mutex);
  impl_->reported_cause = cause;
  impl_->wake.set();
  impl_->changed.wait_for(lock, kLimit, [&] { return impl_->ended; });
}

void Heartbeat::expect_shutdown() {
  impl_->shutdown_expected = true;
}

}  // namespace trireme::parallel
