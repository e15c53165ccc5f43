#include "runtime/tokenizer/stop_matcher.h"

#include <deque>

#include "base/check.h"

namespace trireme::tokenizer {

StopMatcher::StopMatcher(const std::vector<std::string>& stops) : nodes_(1) {
  for (const std::string& stop : stops) {
    TRIREME_CHECK(!stop.empty());
    std::uint32_t node = 0;
    for (const char byte : stop) {
      const auto next = static_cast<std::uint32_t>(nodes_.size());
      const auto [child, inserted] = nodes_[node].children.try_emplace(byte, next);
      const std::uint32_t target = child->second;
      if (inserted) {
        const std::uint32_t depth = nodes_[node].depth + 1;
        nodes_.emplace_back().depth = depth;
      }
      node = target;
    }
    nodes_[node].match_length = nodes_[node].depth;
  }
  link_fallbacks();
}

// Breadth first, so that a node's fallback, which is nearer to the root, is ready before the node.
void StopMatcher::link_fallbacks() {
  std::deque<std::uint32_t> queue = {0};
  while (!queue.empty()) {
    const std::uint32_t node = queue.front();
    queue.pop_front();
    for (const auto& [byte, child] : nodes_[node].children) {
      if (node != 0) nodes_[child].fallback = step(nodes_[node].fallback, byte);
      if (nodes_[child].match_length == 0) nodes_[child].match_length = nodes_[nodes_[child].fallback].match_length;
      queue.push_back(child);
    }
  }
}

std::uint32_t StopMatcher::step(std::uint32_t state, char byte) const {
  for (;; state = nodes_[state].fallback) {
    const auto child = nodes_[state].children.find(byte);
    if (child != nodes_[state].children.end()) return child->second;
    if (state == 0) return 0;
  }
}

std::optional<StopMatcher::Found> StopMatcher::push(std::string_view piece) {
  for (std::size_t i = 0; i < piece.size(); ++i) {
    state_ = step(state_, piece[i]);
    if (nodes_[state_].match_length > 0) return Found{i + 1, nodes_[state_].match_length};
  }
  return std::nullopt;
}

}  // namespace trireme::tokenizer
