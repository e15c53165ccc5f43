// Half of a round trip between ranks 0 and 1, by message size: MPI itself, the Communicator, tickets polled on the
// communication thread, tickets waited for by a compute thread, and the activation transport (with trailers and
// checksums). Prints one JSON object; the rounds of all variants alternate; best and median are of nine.
//
//   mpirun -n 2 message_latency [--gap-us N]     N: pause before each round trip, as while another stage computes
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "parallel/communicator_transport.h"
#include "parallel/message_loop.h"
#include "parallel/mpi_environment.h"

namespace {

using namespace trireme::parallel;
using Clock = std::chrono::steady_clock;
using Buffer = std::vector<std::byte>;

struct Bench {
  Communicator& communicator;
  std::chrono::microseconds gap;
  int peer() const { return 1 - communicator.rank(); }
};

// Microseconds per half round trip; rank 0 pauses, starts and takes the times.
double half_round_trip(const Bench& bench, int rounds, const std::function<void()>& send,
                       const std::function<void()>& receive) {
  Clock::duration total{};
  for (int i = 0; i < rounds; ++i) {
    if (bench.communicator.rank() == 0) {
      if (bench.gap.count() > 0) std::this_thread::sleep_for(bench.gap);
      const auto start = Clock::now();
      send();
      receive();
      total += Clock::now() - start;
    } else {
      receive();
      send();
    }
  }
  return std::chrono::duration<double, std::micro>(total).count() / (2.0 * rounds);
}

double raw_mpi(const Bench& bench, int rounds, Buffer& buffer) {
  const int count = static_cast<int>(buffer.size());
  return half_round_trip(
      bench, rounds, [&] { MPI_Send(buffer.data(), count, MPI_BYTE, bench.peer(), 9, MPI_COMM_WORLD); },
      [&] { MPI_Recv(buffer.data(), count, MPI_BYTE, bench.peer(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); });
}

double communicator(const Bench& bench, int rounds, Buffer& buffer) {
  const auto finish = [](auto operation) {
    while (!operation->test()) {
    }
  };
  return half_round_trip(
      bench, rounds, [&] { finish(bench.communicator.isend(buffer, bench.peer(), Tag::kActivation)); },
      [&] { finish(bench.communicator.irecv(buffer, bench.peer(), Tag::kActivation)); });
}

double tickets_polled(const Bench& bench, int rounds, Buffer& buffer) {
  MessageLoop loop(bench.communicator);
  const auto finish = [&](const MessageLoop::Ticket& ticket) {
    while (!ticket.done()) {
      if (!loop.poll()) loop.idle(false, std::chrono::milliseconds(1));
    }
  };
  return half_round_trip(
      bench, rounds, [&] { finish(loop.post_send(buffer, bench.peer(), Tag::kActivation)); },
      [&] { finish(loop.post_receive(buffer, bench.peer(), Tag::kActivation)); });
}

// `body` on a compute thread, while this one drives the loop.
double on_compute_thread(MessageLoop& loop, const std::function<double()>& body) {
  std::atomic<bool> finished = false;
  double result = 0.0;
  std::thread compute([&] {
    result = body();
    finished = true;
    loop.wake();
  });
  while (!finished) {
    if (!loop.poll()) loop.idle(false, std::chrono::milliseconds(1));
  }
  compute.join();
  return result;
}

double tickets_waited_for(const Bench& bench, int rounds, Buffer& buffer) {
  MessageLoop loop(bench.communicator);
  return on_compute_thread(loop, [&] {
    return half_round_trip(
        bench, rounds, [&] { loop.post_send(buffer, bench.peer(), Tag::kActivation).wait(); },
        [&] { loop.post_receive(buffer, bench.peer(), Tag::kActivation).wait(); });
  });
}

double transport(const Bench& bench, int rounds, Buffer& buffer) {
  MessageLoop loop(bench.communicator);
  CommunicatorTransport transport(loop, {bench.peer(), bench.peer()}, 1);
  Buffer with_trailer(buffer.size() + CommunicatorTransport::kTrailerBytes);
  std::uint64_t sent = 0, received = 0;
  return on_compute_thread(loop, [&] {
    return half_round_trip(
        bench, rounds,
        [&] {
          transport.start_send(sent, with_trailer, {});
          transport.wait_send(sent++, {});
        },
        [&] {
          transport.start_receive(received, with_trailer);
          transport.wait_receive(received++, {});
        });
  });
}

nlohmann::json summary(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {{"best_us", values.front()}, {"median_us", values[values.size() / 2]}};
}

nlohmann::json measure(const Bench& bench, std::size_t bytes) {
  using Variant = double (*)(const Bench&, int, Buffer&);
  const std::vector<std::pair<const char*, Variant>> variants{{"mpi", raw_mpi},
                                                              {"communicator", communicator},
                                                              {"tickets_polled", tickets_polled},
                                                              {"tickets_waited_for", tickets_waited_for},
                                                              {"transport", transport}};
  constexpr int kRepeats = 9;
  const int rounds =
      bench.gap.count() > 0 ? 20 : static_cast<int>(std::clamp<std::size_t>((8u << 20) / bytes, 10, 500));
  std::vector<std::vector<double>> times(variants.size());
  Buffer buffer(bytes);
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      bench.communicator.barrier();
      times[i].push_back(variants[i].second(bench, rounds, buffer));
    }
  }
  nlohmann::json row{{"bytes", bytes}};
  for (std::size_t i = 0; i < variants.size(); ++i) row[variants[i].first] = summary(times[i]);
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  MpiEnvironment environment(&argc, &argv);
  const auto world = environment.world();
  if (world->size() != 2) {
    std::cerr << "message_latency needs 2 ranks\n";
    return 1;
  }
  std::chrono::microseconds gap{0};
  if (argc == 3 && std::string_view(argv[1]) == "--gap-us") gap = std::chrono::microseconds(std::atoi(argv[2]));

  nlohmann::json result{{"benchmark", "message_latency"}, {"gap_us", gap.count()}, {"sizes", nlohmann::json::array()}};
  result["mpi"] = MpiEnvironment::library_version();
  for (const std::size_t bytes : {2u << 10, 8u << 10, 32u << 10, 128u << 10, 512u << 10, 1u << 20, 4u << 20}) {
    result["sizes"].push_back(measure({*world, gap}, bytes));
  }
  if (world->rank() == 0) std::cout << result.dump(2) << '\n';
  return 0;
}
