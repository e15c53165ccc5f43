// The fixture of all operation tests: the same test for the reference and for each instruction set of this machine, and
// buffers that notice writes beyond their end.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/cpu_ops.h"
#include "kernels/ops.h"

namespace trireme::kernels {

inline constexpr double kEpsilon = 0x1p-24;  // half a unit in the last place of 1.0f
inline constexpr base::Stream kStream{};

// A back end with its threads.
struct Backend {
  Backend(const std::string& name, int num_threads) : pool(num_threads) {
    const auto set = instruction_set_from_string(name);
    ops = set.has_value() ? make_cpu_ops(*set, pool) : make_reference_ops();
  }
  ThreadPool pool;
  std::unique_ptr<Ops> ops;
};

inline std::vector<std::string> backend_names() {
  std::vector<std::string> names{"reference"};
  for (const InstructionSet set : available_instruction_sets()) names.emplace_back(to_string(set));
  return names;
}

// Without the instruction sets that differ from another one only in how they multiply bytes.
inline std::vector<std::string> float_backend_names() {
  std::vector<std::string> names{"reference"};
  for (const InstructionSet set : available_instruction_sets()) {
    if (set == InstructionSet::kAvx2 || set == InstructionSet::kAvx512) names.emplace_back(to_string(set));
  }
  return names;
}

class BackendTest : public testing::TestWithParam<std::string> {
 protected:
  Backend backend_{GetParam(), 2};
  Ops& ops_ = *backend_.ops;
  std::unique_ptr<Ops> reference_ = make_reference_ops();
  std::mt19937 random_{12345};

  std::vector<float> normal(std::int64_t size, float deviation = 1.0f) {
    std::normal_distribution<float> distribution(0.0f, deviation);
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = distribution(random_);
    return values;
  }
};

#define TRIREME_FOR_BACKENDS(Suite, names)                               \
  INSTANTIATE_TEST_SUITE_P(AllBackends, Suite, testing::ValuesIn(names), \
                           [](const auto& parameter) { return parameter.param; })
// For operations that multiply bytes, and for those that do not.
#define TRIREME_FOR_ALL_BACKENDS(Suite) TRIREME_FOR_BACKENDS(Suite, ::trireme::kernels::backend_names())
#define TRIREME_FOR_FLOAT_BACKENDS(Suite) TRIREME_FOR_BACKENDS(Suite, ::trireme::kernels::float_backend_names())

// `size` floats at a start that is aligned to no more than 4 bytes, between guards.
class GuardedFloats {
 public:
  explicit GuardedFloats(std::int64_t size, float fill = 0.0f)
      : memory_(static_cast<std::size_t>(size) + 2 * kGuard, kCanary), size_(static_cast<std::size_t>(size)) {
    for (float& value : span()) value = fill;
  }
  explicit GuardedFloats(const std::vector<float>& values) : GuardedFloats(static_cast<std::int64_t>(values.size())) {
    std::copy(values.begin(), values.end(), data());
  }
  float* data() { return memory_.data() + kGuard; }
  std::span<float> span() { return {data(), size_}; }
  float operator[](std::int64_t i) { return data()[i]; }
  bool guards_intact() const {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      const bool is_guard = i < kGuard || i >= kGuard + size_;
      if (is_guard && memory_[i] != kCanary) return false;
    }
    return true;
  }

 private:
  static constexpr std::size_t kGuard = 33;
  static constexpr float kCanary = -1234.5f;
  std::vector<float> memory_;
  std::size_t size_;
};

inline bool same_bits(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) return false;
  }
  return true;
}

// |actual - expected| <= tolerance, and not-a-number or infinity in the same places.
inline void expect_near(std::span<const float> actual, std::span<const float> expected,
                        const std::function<double(std::size_t)>& tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isfinite(expected[i])) {
      ASSERT_LE(std::abs(static_cast<double>(actual[i]) - expected[i]), tolerance(i))
          << "at " << i << ": " << actual[i] << " instead of " << expected[i];
    } else {
      ASSERT_FALSE(std::isfinite(actual[i])) << "at " << i << ": " << actual[i] << " instead of " << expected[i];
    }
  }
}

// Zero to two vectors of AVX-512 and one more, and sizes of real models.
inline std::vector<std::int64_t> interesting_sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= 33; ++size) sizes.push_back(size);
  for (const std::int64_t size : {64, 127, 576, 640, 1536, 2049}) sizes.push_back(size);
  return sizes;
}

}  // namespace trireme::kernels
