// The heartbeat between real processes, which are killed and stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/check.h"
#include "parallel/heartbeat.h"

namespace trireme::parallel {
namespace {

using namespace std::chrono_literals;

const HeartbeatConfig kFast{100ms, 6, 800ms, 20s};

// Start-up messages between forked processes: sockets_[a][b] is rank a's end of the pair with rank b.
class ForkedCommunicator : public Communicator {
 public:
  using Sockets = std::vector<std::vector<int>>;

  ForkedCommunicator(const Sockets& sockets, int rank) : sockets_(sockets), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(sockets_.size()); }
  std::unique_ptr<Operation> isend(std::span<const std::byte> bytes, int destination, Tag) override {
    TRIREME_CHECK(::send(socket(destination), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return std::make_unique<Transfer>(-1, std::span<std::byte>{});
  }
  std::unique_ptr<Operation> irecv(std::span<std::byte> bytes, int source, Tag) override {
    return std::make_unique<Transfer>(socket(source), bytes);
  }

 private:
  struct Transfer : Operation {
    Transfer(int from_socket, std::span<std::byte> into) : socket(from_socket), buffer(into) {}
    bool test() override {
      if (socket < 0) return true;
      const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (got < 0) return false;
      bytes = static_cast<std::size_t>(got);
      socket = -1;
      return true;
    }
    std::size_t received_bytes() const override { return bytes; }
    int socket;
    std::span<std::byte> buffer;
    std::size_t bytes = 0;
  };
  int socket(int peer) const { return sockets_[static_cast<std::size_t>(rank_)][static_cast<std::size_t>(peer)]; }

  const Sockets& sockets_;
  int rank_;
};

struct Record {
  int reporter, failed;
  char cause[100];
};

// Children with heartbeats; each writes a record when it is ready (failed = -1) and another when it learns of a
// failure, and then ends.
class Processes {
 public:
  explicit Processes(int num_ranks) : sockets_(static_cast<std::size_t>(num_ranks), std::vector<int>(num_ranks, -1)) {
    TRIREME_CHECK(::pipe(pipe_) == 0);
    for (std::size_t a = 0; a < sockets_.size(); ++a) {
      for (std::size_t b = a + 1; b < sockets_.size(); ++b) {
        int pair[2];
        TRIREME_CHECK(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
        sockets_[a][b] = pair[0];
        sockets_[b][a] = pair[1];
      }
    }
    for (int rank = 0; rank < num_ranks; ++rank) {
      const pid_t pid = ::fork();
      TRIREME_CHECK(pid >= 0);
      if (pid == 0) run_child(rank);
      pids_.push_back(pid);
    }
    for (int rank = 0; rank < num_ranks; ++rank) EXPECT_EQ(next_record().failed, -1);
  }
  ~Processes() {
    for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
    for (const auto& row : sockets_) {
      for (const int socket : row) ::close(socket);
    }
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  void signal(int rank, int number) { ::kill(pids_[static_cast<std::size_t>(rank)], number); }
  Record next_record() {
    Record record{-1, -2, "nothing came"};
    pollfd entry{pipe_[0], POLLIN, 0};
    if (::poll(&entry, 1, 20'000) == 1) {
      TRIREME_CHECK(::read(pipe_[0], &record, sizeof record) == static_cast<ssize_t>(sizeof record));
    }
    return record;
  }

 private:
  void write(const Record& record) const {
    if (::write(pipe_[1], &record, sizeof record) != static_cast<ssize_t>(sizeof record)) ::_exit(2);
  }
  [[noreturn]] void run_child(int rank) const {
    ForkedCommunicator communicator(sockets_, rank);
    Heartbeat heart(
        communicator, kFast, [] { return RankActivity{}; },
        [&](const RankFailure& failure) {
          Record record{rank, failure.rank, {}};
          std::strncpy(record.cause, failure.cause.c_str(), sizeof record.cause - 1);
          write(record);
          ::_exit(1);
        });
    write({rank, -1, "ready"});
    for (;;) ::pause();
  }

  int pipe_[2];
  ForkedCommunicator::Sockets sockets_;
  std::vector<pid_t> pids_;
};

class HeartbeatProcessTest : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Rank, HeartbeatProcessTest, testing::Values(0, 1, 2));

TEST_P(HeartbeatProcessTest, KilledRankIsReportedByAllOthers) {
  Processes processes(3);
  processes.signal(GetParam(), SIGKILL);
  for (int i = 0; i < 2; ++i) {
    const Record record = processes.next_record();
    EXPECT_EQ(record.failed, GetParam());
    EXPECT_NE(record.reporter, GetParam());
    EXPECT_THAT(record.cause, testing::HasSubstr("connection"));
  }
}

TEST_P(HeartbeatProcessTest, StoppedRankIsReportedByAllOthersAndDoesNotComeBack) {
  Processes processes(3);
  processes.signal(GetParam(), SIGSTOP);
  for (int i = 0; i < 2; ++i) {
    const Record record = processes.next_record();
    EXPECT_EQ(record.failed, GetParam());
    EXPECT_NE(record.reporter, GetParam());
    EXPECT_THAT(record.cause, testing::HasSubstr("no heartbeat for 0."));
  }
  processes.signal(GetParam(), SIGCONT);
  const Record record = processes.next_record();  // it learns that it is out, or that the others are gone
  EXPECT_EQ(record.reporter, GetParam());
}

}  // namespace
}  // namespace trireme::parallel
