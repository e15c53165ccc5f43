#include "parallel/message_loop.h"

#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "parallel/error.h"

namespace trireme::parallel {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr microseconds kSpin{5};     // without a message, the core is kept for this long if no thread waits for it,
constexpr microseconds kYield{100};  // and offered to others before every poll for this long; then comes sleep
constexpr microseconds kTicketSpin{50};
constexpr microseconds kShortestSleep{20}, kLongestSleep{500};
constexpr unsigned long kTimerSlackNanoseconds = 1000;

enum class Status { kPending, kDone, kFailed };

}  // namespace

// What waiting threads and the loop share; outlives the loop as long as a ticket does.
struct MessageLoop::Completion {
  // Held by the thread that touches the Communicator; briefly, so that it may be waited for.
  std::mutex driving;
  Impl* loop = nullptr;              // guarded by driving; null when the loop has ended
  std::atomic<int> num_driving = 0;  // waiting threads that move messages

  std::mutex mutex;
  std::condition_variable changed;
  std::string reason;  // guarded by mutex
  std::atomic<int> num_sleeping = 0;
  std::atomic<int> num_waiting = 0;  // asleep or about to be: the loop leaves them the core
  std::atomic<int> num_due = 0;      // waiting threads whose operation has ended
  std::atomic<bool> failed = false;

  // On a waiting thread: until `done`, or for as long as something moves.
  void move_messages_until(const std::function<bool()>& done);
  void fail(const std::string& why) {
    const std::lock_guard lock(mutex);
    if (failed) return;
    reason = why;
    failed = true;
    changed.notify_all();
  }
};

struct MessageLoop::Ticket::State {
  explicit State(std::shared_ptr<Completion> shared) : completion(std::move(shared)) {}

  std::shared_ptr<Completion> completion;
  std::atomic<Status> status = Status::kPending;
  std::size_t received_bytes = 0;  // written before status, like error
  std::string error;

  enum class Waiter { kNone, kWaiting, kDue };
  std::atomic<Waiter> waiter = Waiter::kNone;

  bool pending() const { return status.load() == Status::kPending; }
  void begin_wait() {
    ++completion->num_waiting;
    waiter.store(Waiter::kWaiting);
  }
  void end_wait() {
    --completion->num_waiting;
    if (waiter.exchange(Waiter::kNone) == Waiter::kDue) --completion->num_due;
  }
  // False if no thread waits for it.
  bool finish(Status how) {
    Waiter expected = Waiter::kWaiting;
    const bool is_waited_for = waiter.compare_exchange_strong(expected, Waiter::kDue);
    if (is_waited_for) ++completion->num_due;
    status.store(how);
    if (completion->num_sleeping > 0) {  // who is about to sleep has counted itself before it looks at the status
      const std::lock_guard lock(completion->mutex);
      completion->changed.notify_all();
    }
    return is_waited_for;
  }
};

MessageLoop::Ticket::Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}

bool MessageLoop::Ticket::done() const {
  const Status status = state_->status.load(std::memory_order_acquire);
  if (status == Status::kFailed) throw ParallelError(state_->error);
  return status == Status::kDone;
}

void MessageLoop::Ticket::wait() const {
  Completion& completion = *state_->completion;
  state_->begin_wait();
  completion.move_messages_until([&] { return !state_->pending() || completion.failed; });
  if (state_->pending()) {
    std::unique_lock lock(completion.mutex);
    ++completion.num_sleeping;
    completion.changed.wait(lock, [&] { return !state_->pending() || completion.failed; });
    --completion.num_sleeping;
  }
  state_->end_wait();
  if (completion.failed) {
    const std::lock_guard lock(completion.mutex);
    throw ParallelError(completion.reason);
  }
  done();
}

std::size_t MessageLoop::Ticket::received_bytes() const {
  TRIREME_CHECK(done());
  return state_->received_bytes;
}

// The operations of one direction, peer and tag, in order. Only the first is tested: messages of one channel match in
// order, and testing one operation makes progress for all.
class MessageLoop::Channel {
 public:
  using Operation = std::unique_ptr<Communicator::Operation>;

  explicit Channel(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  void add(Operation operation, std::shared_ptr<Ticket::State> state, std::shared_ptr<const void> keep_alive) {
    entries_.push_back({std::move(keep_alive), std::move(state), std::move(operation)});
  }

  enum class Finished { kNone, kWaitedFor, kUnattended };
  // The first operation, if it has ended. One at a time, so that a waiting thread can use a part while the next one
  // arrives.
  Finished finish_one() {
    if (entries_.empty()) return Finished::kNone;
    Entry& first = entries_.front();
    Status status = Status::kDone;
    try {
      if (!first.operation->test()) return Finished::kNone;
      first.state->received_bytes = first.operation->received_bytes();
    } catch (const ParallelError& error) {
      first.state->error = name_ + ": " + error.what();
      status = Status::kFailed;
    }
    const std::shared_ptr<Ticket::State> state = std::move(first.state);
    entries_.pop_front();
    return state->finish(status) ? Finished::kWaitedFor : Finished::kUnattended;
  }

 private:
  struct Entry {
    std::shared_ptr<const void> keep_alive;  // destroyed after the operation
    std::shared_ptr<Ticket::State> state;
    Operation operation;
  };
  std::string name_;
  std::deque<Entry> entries_;
};

struct MessageLoop::Impl {
  struct Post {
    bool is_send;
    std::span<const std::byte> send_bytes;
    std::span<std::byte> receive_bytes;
    int peer;
    Tag tag;
    std::shared_ptr<const void> keep_alive;
    std::shared_ptr<Ticket::State> state;
  };

  explicit Impl(Communicator& used) : communicator(used) {}

  Ticket post(Post operation);
  Channel& channel_of(const Post& post);
  bool try_start_posted();
  // Of the communication thread: any sleep, or one that is too long for an operation under way.
  enum class Sleep { kAny, kLong };
  void wake_up(Sleep which = Sleep::kAny);
  microseconds sleep_time(bool compute_busy, microseconds limit) const;

  // Under completion->driving. What was posted starts, what is under way is tested; true if anything moved.
  bool move();
  void start(Post& post);
  bool start_posted();
  bool finish_some();

  Communicator& communicator;
  std::shared_ptr<Completion> completion = std::make_shared<Completion>();
  std::atomic<int> num_under_way = 0;
  std::atomic<Clock::time_point> last_moved = Clock::now();

  std::mutex mutex;  // guards the next four
  std::condition_variable woken;
  std::vector<Post> posts;
  bool wake = false, sleeping = false;
  std::atomic<bool> sleeping_long = false;  // or about to be
  std::atomic<bool> has_posts = false;

  // Guarded by completion->driving.
  std::map<std::tuple<bool, int, Tag>, Channel> channels;
  std::vector<Post> starting;
  bool has_unattended = false;  // a receive has ended for which no thread waits

  bool slack_is_set = false;  // communication thread only
};

MessageLoop::Ticket MessageLoop::Impl::post(Post operation) {
  auto state = std::make_shared<Ticket::State>(completion);
  operation.state = state;
  {
    const std::lock_guard lock(mutex);
    posts.push_back(std::move(operation));
    has_posts.store(true, std::memory_order_release);
  }
  const bool started = try_start_posted();
  wake_up(started ? Sleep::kLong : Sleep::kAny);
  return Ticket(std::move(state));
}

bool MessageLoop::Impl::try_start_posted() {
  const std::unique_lock lock(completion->driving, std::try_to_lock);
  if (!lock) return false;
  if (start_posted()) last_moved = Clock::now();
  return true;
}

void MessageLoop::Impl::wake_up(Sleep which) {
  if (which == Sleep::kLong && !sleeping_long) return;
  const std::lock_guard lock(mutex);
  wake = true;
  if (sleeping) woken.notify_one();
}

MessageLoop::Channel& MessageLoop::Impl::channel_of(const Post& post) {
  const std::tuple key(post.is_send, post.peer, post.tag);
  const auto found = channels.find(key);
  if (found != channels.end()) return found->second;
  const std::string self = std::to_string(communicator.rank()), peer = std::to_string(post.peer);
  std::string name = std::string(tag_name(post.tag)) + " message from rank " + (post.is_send ? self : peer) +
                     " to rank " + (post.is_send ? peer : self);
  return channels.emplace(key, Channel(std::move(name))).first->second;
}

void MessageLoop::Impl::start(Post& post) {
  Channel& channel = channel_of(post);
  try {
    auto operation = post.is_send ? communicator.isend(post.send_bytes, post.peer, post.tag)
                                  : communicator.irecv(post.receive_bytes, post.peer, post.tag);
    channel.add(std::move(operation), std::move(post.state), std::move(post.keep_alive));
    ++num_under_way;
  } catch (const ParallelError& error) {
    post.state->error = channel.name() + ": " + error.what();
    post.state->finish(Status::kFailed);
  }
}

bool MessageLoop::Impl::start_posted() {
  if (!has_posts.load(std::memory_order_acquire)) return false;
  {
    const std::lock_guard lock(mutex);
    starting.swap(posts);
    has_posts.store(false, std::memory_order_relaxed);
  }
  for (Post& post : starting) start(post);
  starting.clear();
  return true;
}

bool MessageLoop::Impl::finish_some() {
  int count = 0;
  for (auto& [key, channel] : channels) {
    const Channel::Finished finished = channel.finish_one();
    if (finished != Channel::Finished::kNone) ++count;
    const bool is_send = std::get<0>(key);
    has_unattended |= !is_send && finished == Channel::Finished::kUnattended;
  }
  num_under_way -= count;
  return count > 0;
}

bool MessageLoop::Impl::move() {
  const bool started = start_posted();
  const bool finished = finish_some();
  if (started || finished) last_moved = Clock::now();
  return started || finished;
}

void MessageLoop::Completion::move_messages_until(const std::function<bool()>& done) {
  ++num_driving;
  auto last_moved = Clock::now();
  while (!done()) {
    bool moved = false;
    if (const std::unique_lock lock(driving, std::try_to_lock); lock && loop != nullptr) {
      moved = loop->move();
      if (std::exchange(loop->has_unattended, false)) loop->wake_up();
    }
    const auto now = Clock::now();
    if (moved) last_moved = now;
    if (now - last_moved >= kTicketSpin) break;
    if (now - last_moved >= kSpin) ::sched_yield();
  }
  --num_driving;
  if (done()) return;
  const std::lock_guard lock(driving);
  if (loop != nullptr) loop->wake_up();  // which may have been asleep, since this thread was there
}

microseconds MessageLoop::Impl::sleep_time(bool compute_busy, microseconds limit) const {
  if (completion->num_driving > 0) return std::min(limit, kBusyPollInterval);
  const auto idle_for = std::chrono::duration_cast<microseconds>(Clock::now() - last_moved.load());
  if (!compute_busy) {
    if (idle_for < kYield) return microseconds{0};
    return std::min(limit, std::clamp(idle_for / 16, kShortestSleep, kLongestSleep));
  }
  return num_under_way > 0 ? std::min(limit, kBusyPollInterval) : limit;
}

MessageLoop::MessageLoop(Communicator& communicator) : impl_(std::make_unique<Impl>(communicator)) {
  impl_->completion->loop = impl_.get();
}

MessageLoop::~MessageLoop() {
  impl_->completion->fail("the message loop has stopped");
  const std::lock_guard lock(impl_->completion->driving);
  impl_->completion->loop = nullptr;
}

MessageLoop::Ticket MessageLoop::post_send(std::span<const std::byte> bytes, int destination, Tag tag,
                                           std::shared_ptr<const void> keep_alive) {
  return impl_->post({true, bytes, {}, destination, tag, std::move(keep_alive), nullptr});
}

MessageLoop::Ticket MessageLoop::post_receive(std::span<std::byte> bytes, int source, Tag tag,
                                              std::shared_ptr<const void> keep_alive) {
  return impl_->post({false, {}, bytes, source, tag, std::move(keep_alive), nullptr});
}

bool MessageLoop::poll() {
  const std::unique_lock lock(impl_->completion->driving, std::try_to_lock);
  return lock && impl_->move();
}

void MessageLoop::idle(bool compute_busy, microseconds limit) {
  if (!std::exchange(impl_->slack_is_set, true)) ::prctl(PR_SET_TIMERSLACK, kTimerSlackNanoseconds);
  // Whoever posts from here on sees that this thread may sleep for long; of what was posted before, it knows itself.
  impl_->sleeping_long = compute_busy && limit > kBusyPollInterval;
  const microseconds sleep = impl_->sleep_time(compute_busy, limit);
  if (sleep <= microseconds{0}) {
    const bool keep_core = impl_->completion->num_waiting == 0 && Clock::now() - impl_->last_moved.load() < kSpin;
    if (!keep_core) ::sched_yield();
    return;
  }
  std::unique_lock lock(impl_->mutex);
  impl_->sleeping = true;
  impl_->woken.wait_for(lock, sleep, [&] { return !impl_->posts.empty() || impl_->wake; });
  impl_->sleeping = false;
  impl_->wake = false;
}

void MessageLoop::wake() {
  impl_->wake_up();
}

bool MessageLoop::has_due_waiter() const {
  return impl_->completion->num_due > 0 || impl_->completion->num_driving > 0;
}

void MessageLoop::fail(const char* reason) {
  impl_->completion->fail(reason);
}

Communicator& MessageLoop::communicator() {
  return impl_->communicator;
}

}  // namespace trireme::parallel
