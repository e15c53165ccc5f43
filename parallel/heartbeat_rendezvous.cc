#include "parallel/heartbeat_rendezvous.h"

#include <poll.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

#include "parallel/error.h"

namespace trireme::parallel {
namespace {

using Clock = TcpSocket::Clock;
using std::chrono::milliseconds;

constexpr milliseconds kAttemptLimit{3000};  // of one connection, from its start to the welcome

std::string own_host() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

HeartbeatToken random_token() {
  HeartbeatToken token{};
  if (::getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size())) {
    throw ParallelError("heartbeat: getrandom failed");
  }
  return token;
}

// Waits for one of the descriptors, until the deadline at most.
void wait_readable(std::vector<pollfd>& entries, Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
  if (left.count() > 0) ::poll(entries.data(), entries.size(), static_cast<int>(left.count()));
}

// Rank 0's side: takes connections until every rank has shown the token.
class Acceptor {
 public:
  Acceptor(const TcpSocket& listener, const HeartbeatToken& token, int size)
      : listener_(listener), token_(token), connections_(static_cast<std::size_t>(size)) {
    present_.assign(static_cast<std::size_t>(size), false);
    present_[0] = true;
  }

  std::vector<HeartbeatConnection> accept_all(Clock::time_point deadline) {
    while (const auto missing = missing_rank()) {
      if (Clock::now() >= deadline) {
        throw ParallelError("heartbeat: rank " + std::to_string(*missing) + " has not connected to rank 0 in time");
      }
      wait(deadline);
      while (auto socket = listener_.accept()) {
        guests_.push_back({HeartbeatConnection(std::move(*socket)), Clock::now() + kAttemptLimit});
      }
      hear_guests();
    }
    return std::move(connections_);
  }

 private:
  struct Guest {
    HeartbeatConnection connection;
    Clock::time_point deadline;
  };

  std::optional<int> missing_rank() const {
    const auto found = std::find(present_.begin(), present_.end(), false);
    if (found == present_.end()) return std::nullopt;
    return static_cast<int>(found - present_.begin());
  }

  void wait(Clock::time_point deadline) {
    std::vector<pollfd> entries{{listener_.fd(), POLLIN, 0}};
    for (const Guest& guest : guests_) {
      entries.push_back({guest.connection.fd(), POLLIN, 0});
      deadline = std::min(deadline, guest.deadline);
    }
    wait_readable(entries, deadline);
  }

  // Guests become peers, stay, or are dropped.
  void hear_guests() {
    std::vector<Guest> staying;
    for (Guest& guest : guests_) {
      const auto message = guest.connection.receive();
      if (message) {
        admit(*message, guest.connection);
      } else if (!guest.connection.closed() && Clock::now() < guest.deadline) {
        staying.push_back(std::move(guest));
      }
    }
    guests_ = std::move(staying);
  }

  void admit(const HeartbeatMessage& hello, HeartbeatConnection& connection) {
    const bool known = hello.kind == HeartbeatKind::kHello && hello.token == token_ && hello.rank > 0 &&
                       static_cast<std::size_t>(hello.rank) < present_.size();
    if (!known) return;
    HeartbeatMessage welcome;
    welcome.kind = HeartbeatKind::kWelcome;
    welcome.rank = 0;
    welcome.token = token_;
    connection.send(welcome);
    // A rank that connects again has given up its first attempt.
    connections_[static_cast<std::size_t>(hello.rank)] = std::move(connection);
    present_[static_cast<std::size_t>(hello.rank)] = true;
  }

  const TcpSocket& listener_;
  HeartbeatToken token_;
  std::vector<HeartbeatConnection> connections_;
  std::vector<bool> present_;
  std::vector<Guest> guests_;
};

struct Invitation {
  HeartbeatToken token{};
  std::uint16_t port = 0;
  std::vector<std::string> addresses;
};

std::vector<std::byte> encode(const Invitation& invitation) {
  std::string text = std::to_string(invitation.port);
  for (const std::string& address : invitation.addresses) text += ' ' + address;
  std::vector<std::byte> bytes(invitation.token.begin(), invitation.token.end());
  const auto text_bytes = std::as_bytes(std::span(text));
  bytes.insert(bytes.end(), text_bytes.begin(), text_bytes.end());
  return bytes;
}

Invitation decode(std::span<const std::byte> bytes) {
  Invitation invitation;
  std::memcpy(invitation.token.data(), bytes.data(), invitation.token.size());
  const auto text_bytes = bytes.subspan(invitation.token.size());
  std::istringstream text(std::string(reinterpret_cast<const char*>(text_bytes.data()), text_bytes.size()));
  text >> invitation.port;
  for (std::string address; text >> address;) invitation.addresses.push_back(address);
  return invitation;
}

std::optional<HeartbeatConnection> try_address(const Invitation& invitation, const std::string& address, int rank,
                                               Clock::time_point deadline) {
  deadline = std::min(deadline, Clock::now() + kAttemptLimit);
  auto socket = TcpSocket::connect(address, invitation.port, deadline);
  if (!socket) return std::nullopt;
  HeartbeatConnection connection(std::move(*socket));
  HeartbeatMessage hello;
  hello.kind = HeartbeatKind::kHello;
  hello.rank = rank;
  hello.token = invitation.token;
  connection.send(hello);
  while (Clock::now() < deadline) {
    if (const auto message = connection.receive()) {
      if (message->kind != HeartbeatKind::kWelcome || message->token != invitation.token) return std::nullopt;
      return connection;
    }
    if (connection.closed()) return std::nullopt;
    std::vector<pollfd> entries{{connection.fd(), POLLIN, 0}};
    wait_readable(entries, deadline);
  }
  return std::nullopt;
}

HeartbeatConnection connect_to_rank0(const Invitation& invitation, int rank, Clock::time_point deadline) {
  constexpr milliseconds kPause{50};
  while (Clock::now() < deadline) {
    for (const std::string& address : invitation.addresses) {
      if (auto connection = try_address(invitation, address, rank, deadline)) return std::move(*connection);
    }
    ::poll(nullptr, 0, static_cast<int>(kPause.count()));
  }
  std::string tried;
  for (const std::string& address : invitation.addresses) tried += ' ' + address;
  throw ParallelError("heartbeat: rank " + std::to_string(rank) + " cannot connect to rank 0 on port " +
                      std::to_string(invitation.port) + " of:" + tried);
}

std::vector<std::string> gather_hosts(Communicator& communicator) {
  const std::string host = own_host();
  std::vector<std::string> hosts;
  for (const auto& bytes : communicator.all_gather(std::as_bytes(std::span(host)))) {
    hosts.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return hosts;
}

}  // namespace

HeartbeatPeers connect_heartbeats(Communicator& communicator, milliseconds limit) {
  HeartbeatPeers peers{gather_hosts(communicator), {}};
  if (communicator.size() == 1) return peers;
  const int rank = communicator.rank();
  TcpSocket listener;
  Invitation invitation;
  if (rank == 0) {
    listener = TcpSocket::listen(communicator.size() + 16);
    invitation = {random_token(), listener.port(), interface_addresses()};
  }
  invitation = decode(communicator.broadcast(rank == 0 ? encode(invitation) : std::vector<std::byte>{}, 0));

  const auto deadline = Clock::now() + limit;
  if (rank == 0) {
    peers.connections = Acceptor(listener, invitation.token, communicator.size()).accept_all(deadline);
  } else {
    auto& addresses = invitation.addresses;
    const bool same_host = peers.hosts[0] == peers.hosts[static_cast<std::size_t>(rank)];
    addresses.insert(same_host ? addresses.begin() : addresses.end(), {"127.0.0.1", "::1"});
    peers.connections.push_back(connect_to_rank0(invitation, rank, deadline));
  }
  communicator.barrier();  // nobody watches before all are watched
  return peers;
}

}  // namespace trireme::parallel
