// RequestQueue: the bounded hand-over from server threads to the engine thread. It bounds all requests that wait, here
// and in the schedulers behind it. A full queue answers at once, so that load beyond what the engine can take costs
// neither memory nor time. All functions may be called from any thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "scheduler/ids.h"
#include "scheduler/request.h"

namespace trireme::scheduler {

class RequestQueue {
 public:
  struct Limits {
    std::size_t max_requests = 1024;
    std::size_t max_tokens = std::size_t{1} << 22;  // prompt tokens over all requests that wait
    // One tenant may then take no more places than it leaves free (dynamic thresholds: Choudhury and Hahne 1998), so
    // that a flood of one leaves room for the others.
    bool several_tenants = false;
  };
  // What the engine takes at once, in the order of arrival. A cancel never comes before its request.
  struct Batch {
    std::vector<std::shared_ptr<const Request>> requests;
    std::vector<RequestId> cancelled;
  };

  explicit RequestQueue(Limits limits) : limits_(limits) {}

  // kResourceExhausted, naming the limit, when the queue is full or closed.
  base::Status push(std::shared_ptr<const Request> request);
  // Never refused: one id per request that was pushed. A request that still waits here is dropped at once.
  // Returns true if so: then the engine never sees it.
  bool cancel(RequestId request);

  // Takes all there is; never waits. The places of what is taken stay occupied.
  Batch take();
  // A request that was taken has started, or ended before it could: its place is free. Once per request.
  void leave(const Request& request);
  // Returns when there is something to take, at `until`, or when the queue is closed.
  void wait_until(TimePoint until);
  // From now on push() refuses; what waits can still be taken.
  void close();

  struct Load {
    std::size_t num_requests = 0, num_tokens = 0;
  };
  Load load() const;  // of all places

 private:
  base::Status check_room(const Request& request) const;
  void free_place(const Request& request);
  bool has_work() const { return !waiting_.requests.empty() || !waiting_.cancelled.empty() || closed_; }

  const Limits limits_;
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  Batch waiting_;
  Load load_;
  std::unordered_map<std::string, std::size_t> per_tenant_;  // requests
  bool closed_ = false;
};

}  // namespace trireme::scheduler
