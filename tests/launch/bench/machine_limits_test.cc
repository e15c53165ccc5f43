#include "launch/bench/machine_limits.h"

#include <gtest/gtest.h>

namespace trireme::launch {
namespace {

TEST(MachineLimitsTest, TheBufferIsLargerThanCachesButNotThanAQuarterOfTheMemory) {
  EXPECT_GE(beyond_cache_bytes(std::size_t{1} << 40), std::size_t{512} << 20);
  EXPECT_EQ(beyond_cache_bytes(std::size_t{400} << 20), std::size_t{100} << 20);
  EXPECT_GT(beyond_cache_bytes(0), 0u);
}

TEST(MachineLimitsTest, ReadingTakesTimeOnOneThreadAndOnTwo) {
  for (const int threads : {1, 2}) {
    kernels::ThreadPool pool(threads);
    const double rate = ReadBandwidth(std::size_t{16} << 20, pool).measure(2);
    EXPECT_GT(rate, 0.1);
    EXPECT_LT(rate, 1e5);
  }
}

TEST(MachineLimitsTest, LibrariesMultiplyOrSayWhyNot) {
  GemmLibraries libraries = load_gemm_libraries();
  EXPECT_EQ(libraries.loaded.size() + libraries.missing.size(), 2u);
  for (const auto& library : libraries.loaded) {
    EXPECT_FALSE(library->name().empty());
    EXPECT_GT(library->f32_seconds({64, 64, 64}, 1), 0.0) << library->name();
    EXPECT_GE(library->u8s8_seconds({64, 64, 64}, 1), 0.0) << library->name();
  }
}

}  // namespace
}  // namespace trireme::launch
