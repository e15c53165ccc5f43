#include "runtime/device/gpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme::device {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST(GpuProbe, SaysWhichModuleIsMissing) {
  const GpuReport report = probe_gpus("/no/such/libtrireme_cuda.so");
  EXPECT_THAT(report.module_error, HasSubstr("/no/such/libtrireme_cuda.so"));
  EXPECT_THAT(report.gpus, IsEmpty());
}

TEST(GpuProbe, RefusesALibraryThatIsNotItsModule) {
  EXPECT_THAT(probe_gpus("libm.so.6").module_error, HasSubstr("libm.so.6"));
}

TEST(GpuProbe, ReportsVersionsAndGpusOrWhyThereAreNone) {
  const std::string module = TRIREME_CUDA_MODULE;
  if (module.empty()) GTEST_SKIP() << "built without CUDA (preset cuda)";
  const GpuReport report = probe_gpus(module);
  ASSERT_EQ(report.module_error, "");
  EXPECT_THAT(report.nccl_version, StartsWith("2."));
  EXPECT_THAT(report.cuda_runtime_version, Not(IsEmpty()));
  if (report.gpus.empty()) {
    EXPECT_THAT(report.error, Not(IsEmpty()));
    return;
  }
  for (const Gpu& gpu : report.gpus) {
    EXPECT_THAT(gpu.name, Not(IsEmpty()));
    EXPECT_GT(gpu.total_bytes, 0);
    EXPECT_GT(gpu.compute_capability_major, 0);
  }
}

}  // namespace
}  // namespace trireme::device
