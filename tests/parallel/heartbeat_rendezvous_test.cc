#include "parallel/heartbeat_rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "parallel/error.h"
#include "tests/support/ranks.h"

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;
using test::for_each_rank;

// Rank 1's side of the exchange by hand: the token, and the port that rank 0 listens on.
struct Invitation {
  HeartbeatToken token{};
  std::uint16_t port = 0;
};

Invitation take_invitation(Communicator& communicator) {
  communicator.all_gather({});
  const auto bytes = communicator.broadcast({}, 0);
  Invitation invitation;
  std::memcpy(invitation.token.data(), bytes.data(), invitation.token.size());
  const std::string text(reinterpret_cast<const char*>(bytes.data()) + invitation.token.size(),
                         bytes.size() - invitation.token.size());
  invitation.port = static_cast<std::uint16_t>(std::stoi(text));
  return invitation;
}

HeartbeatConnection connect(const Invitation& invitation) {
  auto socket = TcpSocket::connect("127.0.0.1", invitation.port, TcpSocket::Clock::now() + 10s);
  EXPECT_TRUE(socket.has_value());
  return HeartbeatConnection(socket ? std::move(*socket) : TcpSocket());
}

HeartbeatMessage hello(const HeartbeatToken& token, int rank) {
  HeartbeatMessage message;
  message.kind = HeartbeatKind::kHello;
  message.rank = rank;
  message.token = token;
  return message;
}

// The first message, or none when the connection is closed.
std::optional<HeartbeatMessage> answer(HeartbeatConnection& connection) {
  for (int i = 0; i < 10'000 && !connection.closed(); ++i) {
    if (auto message = connection.receive()) return message;
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_TRUE(connection.closed());
  return std::nullopt;
}

TEST(HeartbeatRendezvous, StrangersAreDroppedAndDoNotKeepRanksOut) {
  for_each_rank(2, [](Communicator& communicator) {
    if (communicator.rank() == 0) {
      EXPECT_EQ(connect_heartbeats(communicator, 20s).connections.size(), 2u);
      return;
    }
    const Invitation invitation = take_invitation(communicator);
    HeartbeatConnection silent = connect(invitation);
    HeartbeatConnection garbled = connect(invitation), wrong_token = connect(invitation);
    HeartbeatConnection wrong_rank = connect(invitation), welcome = connect(invitation);
    HeartbeatMessage garbage = hello(invitation.token, 1);
    garbage.magic = 0x20544547;  // "GET "
    garbled.send(garbage);
    HeartbeatToken other_token = invitation.token;
    other_token[15] ^= std::byte{1};
    wrong_token.send(hello(other_token, 1));
    wrong_rank.send(hello(invitation.token, 2));
    EXPECT_FALSE(answer(garbled));
    EXPECT_FALSE(answer(wrong_token));
    EXPECT_FALSE(answer(wrong_rank));
    welcome.send(hello(invitation.token, 1));
    const auto message = answer(welcome);
    ASSERT_TRUE(message);
    EXPECT_EQ(message->kind, HeartbeatKind::kWelcome);
    EXPECT_EQ(message->token, invitation.token);
    communicator.barrier();
  });
}

TEST(HeartbeatRendezvous, RankThatDoesNotConnectIsNamed) {
  for_each_rank(2, [](Communicator& communicator) {
    if (communicator.rank() == 1) {
      take_invitation(communicator);
      return;
    }
    try {
      connect_heartbeats(communicator, 100ms);
      ADD_FAILURE() << "rank 1 is here";
    } catch (const ParallelError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("rank 1 has not connected"));
    }
  });
}

TEST(HeartbeatRendezvous, RankThatCannotReachRank0SaysWhereItTried) {
  for_each_rank(2, [](Communicator& communicator) {
    if (communicator.rank() == 0) {  // tells a port where nobody listens any more
      communicator.all_gather({});
      std::string text(16, 'x');
      text += std::to_string(TcpSocket::listen(1).port());
      const auto bytes = std::as_bytes(std::span(text));
      communicator.broadcast({bytes.begin(), bytes.end()}, 0);
      return;
    }
    try {
      connect_heartbeats(communicator, 100ms);
      ADD_FAILURE() << "somebody listens";
    } catch (const ParallelError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("rank 1 cannot connect to rank 0"));
      EXPECT_THAT(error.what(), testing::HasSubstr("127.0.0.1"));
    }
  });
}

}  // namespace
}  // namespace trireme::parallel
