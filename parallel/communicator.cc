#include "parallel/communicator.h"

#include <sched.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace trireme::parallel {
namespace {

// Start-up lasts long on some ranks (reading weights), and some wait while others compute (bench --ladder), so waiting
// must not burn a core, nor after the first second disturb who uses it.
void finish(Communicator::Operation& operation) {
  constexpr int kYields = 200, kShortSleeps = 5000;
  constexpr std::chrono::microseconds kShortSleep{200}, kLongSleep{5000};
  for (int i = 0; !operation.test(); ++i) {
    if (i < kYields) {
      ::sched_yield();
    } else {
      std::this_thread::sleep_for(i < kYields + kShortSleeps ? kShortSleep : kLongSleep);
    }
  }
}

void finish_all(std::vector<std::unique_ptr<Communicator::Operation>>& operations) {
  for (auto& operation : operations) finish(*operation);
}

// A message of a length that the receiver does not know: its length, then its bytes.
struct Outgoing {
  std::uint64_t length;
  std::vector<std::unique_ptr<Communicator::Operation>> operations;
};

void start_send(Communicator& communicator, Outgoing& out, std::span<const std::byte> bytes, int destination) {
  const auto length = std::as_bytes(std::span(&out.length, 1));
  out.operations.push_back(communicator.isend(length, destination, Tag::kStartup));
  if (!bytes.empty()) out.operations.push_back(communicator.isend(bytes, destination, Tag::kStartup));
}

std::vector<std::byte> receive(Communicator& communicator, int source) {
  std::uint64_t length = 0;
  finish(*communicator.irecv(std::as_writable_bytes(std::span(&length, 1)), source, Tag::kStartup));
  std::vector<std::byte> bytes(length);
  if (length > 0) finish(*communicator.irecv(bytes, source, Tag::kStartup));
  return bytes;
}

void append(std::vector<std::byte>& all, std::span<const std::byte> part) {
  const std::uint64_t length = part.size();
  const auto prefix = std::as_bytes(std::span(&length, 1));
  all.insert(all.end(), prefix.begin(), prefix.end());
  all.insert(all.end(), part.begin(), part.end());
}

}  // namespace

const char* tag_name(Tag tag) {
  switch (tag) {
    case Tag::kStartup: return "start-up";
    case Tag::kPlan: return "plan";
    case Tag::kResult: return "result";
    case Tag::kActivation: return "activation";
  }
  return "unknown";
}

void Communicator::barrier() {
  all_gather({});
}

std::vector<std::byte> Communicator::broadcast(std::vector<std::byte> bytes, int root) {
  if (rank() != root) return receive(*this, root);
  Outgoing out{bytes.size(), {}};
  for (int destination = 0; destination < size(); ++destination) {
    if (destination != root) start_send(*this, out, bytes, destination);
  }
  finish_all(out.operations);
  return bytes;
}

std::vector<std::vector<std::byte>> Communicator::all_gather(std::span<const std::byte> bytes) {
  std::vector<std::byte> all;
  if (rank() == 0) {
    append(all, bytes);
    for (int source = 1; source < size(); ++source) append(all, receive(*this, source));
  } else {
    Outgoing out{bytes.size(), {}};
    start_send(*this, out, bytes, 0);
    finish_all(out.operations);
  }
  all = broadcast(std::move(all), 0);

  std::vector<std::vector<std::byte>> parts;
  for (std::size_t offset = 0; offset < all.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, all.data() + offset, sizeof length);
    offset += sizeof length;
    parts.emplace_back(all.data() + offset, all.data() + offset + length);
    offset += length;
  }
  return parts;
}

}  // namespace trireme::parallel
