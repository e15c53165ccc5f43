#include "scheduler/request_queue.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace trireme::scheduler {

base::Status RequestQueue::check_room(const Request& request) const {
  const auto full = [](const std::string& reason) {
    return base::resource_exhausted("request queue: full, " + reason);
  };
  if (closed_) return base::resource_exhausted("request queue: closed, the server is shutting down");
  if (load_.num_requests >= limits_.max_requests) {
    return full(std::to_string(limits_.max_requests) + " requests wait (max_requests)");
  }
  // One request alone is always taken; whether it fits the model is the scheduler's to say.
  if (load_.num_requests > 0 && load_.num_tokens + request.prompt.size() > limits_.max_tokens) {
    return full(std::to_string(load_.num_tokens) + " prompt tokens wait, the limit is " +
                std::to_string(limits_.max_tokens) + " (max_tokens)");
  }
  if (!limits_.several_tenants) return base::ok_status();
  const auto own = per_tenant_.find(request.tenant);
  const std::size_t num_own = own == per_tenant_.end() ? 0 : own->second;
  if (num_own >= limits_.max_requests - load_.num_requests) {
    return full(std::to_string(num_own) + " requests of this tenant wait; the places left are for others");
  }
  return base::ok_status();
}

base::Status RequestQueue::push(std::shared_ptr<const Request> request) {
  {
    const std::lock_guard lock(mutex_);
    if (base::Status room = check_room(*request); !room) return room;
    ++load_.num_requests;
    load_.num_tokens += request->prompt.size();
    if (limits_.several_tenants) ++per_tenant_[request->tenant];
    waiting_.requests.push_back(std::move(request));
  }
  arrived_.notify_one();
  return base::ok_status();
}

void RequestQueue::free_place(const Request& request) {
  TRIREME_CHECK(load_.num_requests > 0 && load_.num_tokens >= request.prompt.size()) << "request " << request.id;
  --load_.num_requests;
  load_.num_tokens -= request.prompt.size();
  const auto own = per_tenant_.find(request.tenant);
  if (own != per_tenant_.end() && --own->second == 0) per_tenant_.erase(own);
}

void RequestQueue::leave(const Request& request) {
  const std::lock_guard lock(mutex_);
  free_place(request);
}

bool RequestQueue::cancel(RequestId id) {
  {
    const std::lock_guard lock(mutex_);
    auto& requests = waiting_.requests;
    const auto found = std::ranges::find(requests, id, [](const auto& request) { return request->id; });
    if (found != requests.end()) {
      free_place(**found);
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

RequestQueue::Load RequestQueue::load() const {
  const std::lock_guard lock(mutex_);
  return load_;
}

}  // namespace trireme::scheduler
