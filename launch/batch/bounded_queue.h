// BoundedQueue: hand-over between two threads of a batch job, bounded in items and in their weight (bytes), so that
// memory stays flat whichever side is slower.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace trireme::launch {

struct QueueLimits {
  std::size_t max_items = 256;
  std::size_t max_weight = std::size_t{64} << 20;
};

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(QueueLimits limits) : limits_(limits) {}

  // Waits for room; one item alone always has room. False if the queue was closed: the item is dropped.
  bool push(T item, std::size_t weight) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return closed_ || has_room(weight); });
    if (closed_) return false;
    put(std::move(item), weight);
    return true;
  }
  // Never waits and always takes the item: for a producer that asks is_full() before it makes more.
  void push_beyond(T item, std::size_t weight) {
    const std::lock_guard lock(mutex_);
    put(std::move(item), weight);
  }
  bool is_full() const {
    const std::lock_guard lock(mutex_);
    return items_.size() >= limits_.max_items || weight_ >= limits_.max_weight;
  }

  std::optional<T> try_pop() {
    const std::lock_guard lock(mutex_);
    return take();
  }
  // Waits until there is an item, the queue is closed, or so long.
  std::optional<T> pop_within(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, time, [&] { return closed_ || !items_.empty(); });
    return take();
  }

  // No more items come; those that are there can still be taken.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    room_.notify_all();
    arrived_.notify_all();
  }
  bool is_drained() const {
    const std::lock_guard lock(mutex_);
    return closed_ && items_.empty();
  }

 private:
  bool has_room(std::size_t weight) const {
    return items_.empty() || (items_.size() < limits_.max_items && weight_ + weight <= limits_.max_weight);
  }
  void put(T item, std::size_t weight) {
    items_.emplace_back(std::move(item), weight);
    weight_ += weight;
    arrived_.notify_one();
  }
  std::optional<T> take() {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front().first));
    weight_ -= items_.front().second;
    items_.pop_front();
    room_.notify_one();
    return item;
  }

  const QueueLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable room_, arrived_;
  std::deque<std::pair<T, std::size_t>> items_;
  std::size_t weight_ = 0;
  bool closed_ = false;
};

}  // namespace trireme::launch
