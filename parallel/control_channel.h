// Control messages of any length over a MessageLoop, in frames of fixed size into receives that are posted in advance.
// Every frame carries magic, epoch, sequence number, total length, offset, payload length and a CRC-32C; a mismatch
// throws ParallelError naming both sides. plan_broadcast and result_return are made of these. On one (source,
// destination, tag) of a loop there is one sender and one receiver for the life of the loop: frames that are posted
// stay posted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "parallel/message_loop.h"

namespace trireme::parallel {

inline constexpr std::size_t kControlFrameBytes = 32 * 1024;            // with its header
inline constexpr std::uint64_t kMaxControlMessageBytes = 256ull << 20;  // CHECKed by send, verified by receive

// Communication thread or any one other thread, but always the same.
class ControlSender {
 public:
  ControlSender(MessageLoop& loop, int destination, Tag tag, std::uint32_t epoch);
  ~ControlSender();
  // Copies the message and returns at once; buffers of finished sends are recycled. Throws ParallelError if an earlier
  // send failed.
  void send(std::span<const std::byte> message);
  bool all_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Same threading. Keeps `depth` frames posted in advance.
class ControlReceiver {
 public:
  ControlReceiver(MessageLoop& loop, int source, Tag tag, std::uint32_t epoch, int depth = 4);
  ~ControlReceiver();
  std::optional<std::vector<std::byte>> try_receive();  // the next whole message, if it is here
  std::vector<std::byte> receive();                     // waits; not on the communication thread

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trireme::parallel
