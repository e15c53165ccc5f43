// TokenStream: the output of one request on its way from the engine thread to the endpoint that asked for it. Bounded:
// a client that does not keep up loses its request, and the engine never waits for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/output_processor.h"

namespace trireme::server {

using EventPtr = std::shared_ptr<const engine::GenerationEvent>;

// Why nothing more comes.
struct StreamEnd {
  enum class Kind : std::uint8_t {
    kComplete,   // every choice has had its event with a finish_reason
    kRefused,    // the engine could not take the request; `message` says what to change
    kTooSlow,    // the reader left more in the buffer than it holds
    kCancelled,  // by the reader, or its dialogue has ended
    kShutdown,   // the server ends
  };
  Kind kind = Kind::kComplete;
  std::string message;             // one line for the client, unless complete
  std::int64_t cached_tokens = 0;  // of the prompt, from the prefix cache
};

class TokenStream {
 public:
  struct Batch {
    std::vector<EventPtr> events;
    std::optional<StreamEnd> end;  // after `events`
  };

  // `on_ready` is called, from the thread that pushes, once for each take() that found nothing, as soon as there is
  // something. It must not wait, and must not call into the stream.
  TokenStream(std::size_t max_bytes, std::function<void()> on_ready);
  // A stream that is complete from the beginning.
  explicit TokenStream(std::vector<EventPtr> events);

  // Reader: all that has come; never waits. Once `end` has been given, on_ready is not called again.
  Batch take();

  // Writer. False if the buffer is full: then the stream has ended with kTooSlow. One event is always taken.
  // Without effect after the end.
  bool push(EventPtr event);
  void finish(StreamEnd end);

 private:
  void signal(std::unique_lock<std::mutex>& lock);

  const std::size_t max_bytes_;
  const std::function<void()> on_ready_;
  std::mutex mutex_;
  std::vector<EventPtr> events_;
  std::size_t num_bytes_ = 0;
  std::optional<StreamEnd> end_;
  bool reader_waits_ = false;
};

// What an event takes in a buffer.
std::size_t size_bytes(const engine::GenerationEvent& event);

}  // namespace trireme::server
