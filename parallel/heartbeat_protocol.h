// The heartbeat's messages, and a connection that carries them. Used by the heartbeat only, on one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "parallel/heartbeat.h"
#include "parallel/tcp_socket.h"

namespace trireme::parallel {

// A secret that the ranks share through the communicator: a connection that does not begin with it is a stranger's.
using HeartbeatToken = std::array<std::byte, 16>;

enum class HeartbeatKind : std::uint32_t {
  kHello = 1,    // from a rank to rank 0: here I am, with the token
  kWelcome = 2,  // rank 0's answer, with the token
  kBeat = 3,
  kFailure = 4,  // `rank` fails or failed: from it to rank 0, and from rank 0 to all
  kGoodbye = 5,  // an orderly end of the sender
};

struct HeartbeatMessage {
  std::uint32_t magic = kMagic;
  HeartbeatKind kind = HeartbeatKind::kBeat;
  std::int32_t rank = -1;  // the sender, or who failed
  std::uint32_t holds_plan = 0;
  std::uint64_t progress = 0;
  HeartbeatToken token{};
  std::array<char, 64> host{};  // of a rank that failed; ends with a zero, like cause
  std::array<char, 408> cause{};

  static constexpr std::uint32_t kMagic = 0x42485254;  // "TRHB"
};
static_assert(sizeof(HeartbeatMessage) == 512);

HeartbeatMessage make_failure(const RankFailure& failure);
RankFailure failure_of(const HeartbeatMessage& message);

class HeartbeatConnection {
 public:
  HeartbeatConnection() = default;
  explicit HeartbeatConnection(TcpSocket socket) : socket_(std::move(socket)) {}

  // Queues a message and sends what the socket takes. A peer that takes nothing gets no more than kMaxQueued messages.
  void send(const HeartbeatMessage& message);
  void flush();
  bool has_unsent() const { return !unsent_.empty(); }

  // The next message that has arrived whole. None: nothing has, or the connection has ended (see closed).
  std::optional<HeartbeatMessage> receive();
  // Why no further message can come; known after receive() gave all that arrived.
  const std::optional<std::string>& closed() const { return closed_; }

  int fd() const { return socket_.fd(); }
  void close() { socket_.close(); }

 private:
  static constexpr std::size_t kMaxQueued = 16;

  TcpSocket socket_;
  std::vector<std::byte> unsent_;
  std::array<std::byte, sizeof(HeartbeatMessage)> partial_{};
  std::size_t partial_bytes_ = 0;
  std::optional<std::string> closed_;
};

}  // namespace trireme::parallel
