#include "runtime/sampling/select_largest.h"

#include <algorithm>
#include <cmath>

namespace trireme::sampling {

// Candidates gather in a buffer of twice the count; when it is full, its lesser half goes and the least that stays
// becomes the bar for newcomers. Each such cut costs O(count) and pays for `count` insertions.
void select_largest(std::span<const float> values, std::size_t count, std::vector<std::int32_t>& order) {
  order.clear();
  count = std::min(count, values.size());
  if (count == 0) return;
  const auto before = [values](std::int32_t a, std::int32_t b) {
    const float left = values[static_cast<std::size_t>(a)];
    const float right = values[static_cast<std::size_t>(b)];
    return left > right || (left == right && a < b);
  };
  const auto keep = static_cast<std::ptrdiff_t>(count);
  bool has_bar = false;
  float bar = 0.0f;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Equal to the bar is not enough: what is kept has lower indices.
    if (has_bar ? !(values[i] > bar) : std::isnan(values[i])) continue;
    order.push_back(static_cast<std::int32_t>(i));
    if (order.size() < 2 * count) continue;
    std::nth_element(order.begin(), order.begin() + keep - 1, order.end(), before);
    order.resize(count);
    bar = values[static_cast<std::size_t>(order[count - 1])];
    has_bar = true;
  }
  if (order.size() > count) {
    std::nth_element(order.begin(), order.begin() + keep - 1, order.end(), before);
    order.resize(count);
  }
  std::sort(order.begin(), order.end(), before);
}

}  // namespace trireme::sampling
