// Scratch memory of an Ops object: it grows to the largest request and is then reused, never shrunk.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "base/aligned_buffer.h"
#include "base/check.h"

namespace trireme::kernels::cpu {

class Scratch {
 public:
  // 64-byte aligned; old contents are lost where it grows. Throws std::bad_alloc.
  std::byte* reserve(std::size_t bytes) {
    if (bytes > buffer_.size()) {
      buffer_ = {};
      buffer_ = base::AlignedBuffer<std::byte>(bytes);
    }
    return buffer_.data();
  }
  std::byte* data() { return buffer_.data(); }

 private:
  base::AlignedBuffer<std::byte> buffer_;
};

// As many buffers as threads. Before a parallel_for the caller reserves; each task then leases one buffer, which does
// not fail because no more tasks run at once than there are threads.
class ScratchPool {
  struct alignas(64) Entry {
    std::atomic<bool> in_use{false};
    Scratch scratch;
  };

 public:
  explicit ScratchPool(int num_threads)
      : count_(static_cast<std::size_t>(num_threads)), entries_(std::make_unique<Entry[]>(count_)) {}

  void reserve(std::size_t bytes) {
    for (std::size_t i = 0; i < count_; ++i) entries_[i].scratch.reserve(bytes);
  }

  class Lease {
   public:
    explicit Lease(ScratchPool& pool) : entry_(pool.acquire()) {}
    ~Lease() { entry_.in_use.store(false, std::memory_order_release); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    std::byte* bytes() const { return entry_.scratch.data(); }
    float* floats() const { return reinterpret_cast<float*>(bytes()); }

   private:
    Entry& entry_;
  };

 private:
  Entry& acquire() {
    for (std::size_t i = 0; i < count_; ++i) {
      if (!entries_[i].in_use.exchange(true, std::memory_order_acquire)) return entries_[i];
    }
    TRIREME_CHECK(false) << "more tasks than the " << count_ << " threads";
    return entries_[0];
  }

  std::size_t count_;
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace trireme::kernels::cpu
