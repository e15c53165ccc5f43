#include "scheduler/request_queue.h"

#include <algorithm>
#include <string>
#include <utility>

namespace trireme::scheduler {

base::Status RequestQueue::push(std::shared_ptr<const Request> request) {
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return base::resource_exhausted("request queue: closed, the server is shutting down");
    if (waiting_.requests.size() >= limits_.max_requests) {
      return base::resource_exhausted("request queue: full, " + std::to_string(limits_.max_requests) +
                                      " requests wait (max_requests)");
    }
    // One request alone is always taken; whether it fits the model is the scheduler's to say.
    if (!waiting_.requests.empty() && num_tokens_ + request->prompt.size() > limits_.max_tokens) {
      return base::resource_exhausted("request queue: full, " + std::to_string(num_tokens_) +
                                      " prompt tokens wait, the limit is " + std::to_string(limits_.max_tokens) +
                                      " (max_tokens)");
    }
    num_tokens_ += request->prompt.size();
    waiting_.requests.push_back(std::move(request));
  }
  arrived_.notify_one();
  return base::ok_status();
}

bool RequestQueue::cancel(RequestId id) {
  {
    const std::lock_guard lock(mutex_);
    auto& requests = waiting_.requests;
    const auto found = std::ranges::find(requests, id, [](const auto& request) { return request->id; });
    if (found != requests.end()) {
      num_tokens_ -= (*found)->prompt.size();
      requests.erase(found);
      return true;
    }
    waiting_.cancelled.push_back(id);
  }
  arrived_.notify_one();
  return false;
}

RequestQueue::Batch RequestQueue::take() {
  const std::lock_guard lock(mutex_);
  num_tokens_ = 0;
  return std::exchange(waiting_, {});
}

void RequestQueue::wait_until(TimePoint until) {
  std::unique_lock lock(mutex_);
  arrived_.wait_until(lock, until, [this] { return has_work(); });
}

void RequestQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_all();
}

std::size_t RequestQueue::num_waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_.requests.size();
}

}  // namespace trireme::scheduler
