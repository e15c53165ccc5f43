// StrongId: integers that mean different things are different types.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <ostream>

namespace trireme::base {

template <typename Tag, typename Integer>
struct StrongId {
  using Value = Integer;
  Integer value{};

  constexpr StrongId() = default;
  constexpr explicit StrongId(Integer v) : value(v) {}
  constexpr auto operator<=>(const StrongId&) const = default;

  friend std::ostream& operator<<(std::ostream& out, StrongId id) { return out << id.value; }
};

}  // namespace trireme::base

template <typename Tag, typename Integer>
struct std::hash<trireme::base::StrongId<Tag, Integer>> {
  std::size_t operator()(trireme::base::StrongId<Tag, Integer> id) const noexcept {
    return std::hash<Integer>{}(id.value);
  }
};
