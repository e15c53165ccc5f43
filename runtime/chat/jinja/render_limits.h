// RenderLimits: what one rendering may cost, so that neither a template nor a message can hang or fill the server.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace trireme::chat::jinja {

struct RenderLimits {
  // A step: one expression or statement, one element that a filter looks at, or 256 bytes of new text.
  std::int64_t max_steps = 1'000'000;
  std::size_t max_output_bytes = 16 << 20;  // of the prompt, and of every string on the way
  std::int32_t max_depth = 200;             // of nested calls and expressions, and of nested lists and objects
  // What strftime_now shows, as the caller's clock on the wall. Without it templates find strftime_now undefined.
  std::optional<std::chrono::local_seconds> now;
};

}  // namespace trireme::chat::jinja
