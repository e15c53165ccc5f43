// Selection of the largest elements of a row without sorting it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme::sampling {

// `order` becomes the indices of the `count` largest values (all of them if there are fewer), largest first, the lower
// index first among equals. NaN is left out. Linear in values.size(), plus a sort of `count` indices.
void select_largest(std::span<const float> values, std::size_t count, std::vector<std::int32_t>& order);

}  // namespace trireme::sampling
