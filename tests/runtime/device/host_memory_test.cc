#include "runtime/device/host_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/temporary_folder.h"

namespace trireme::device {
namespace {

namespace fs = std::filesystem;

// A folder with files of proc and sys, as a kernel would show them.
class HostMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    write("proc/meminfo", "MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    800 kB\n");
  }
  void write(const std::string& path, const std::string& text) { folder_.write(path, text); }

  const test::TemporaryFolder folder_;
  const fs::path root_ = folder_.path();
};

TEST_F(HostMemoryTest, IsWhatTheKernelCallsAvailableWithoutControlGroups) {
  const HostMemory memory = read_host_memory(root_);
  EXPECT_EQ(memory.available_bytes, 800 * 1024);
  EXPECT_FALSE(memory.cgroup_limit_bytes.has_value());
  EXPECT_EQ(memory.usable_bytes(), 800 * 1024);
}

TEST_F(HostMemoryTest, IsTheTightestLimitAmongTheLevelsOfVersion2) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/job/memory.max", "500000\n");
  write("sys/fs/cgroup/job/memory.current", "200000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 150000\ninactive_file 50000\nactive_file 7\n");
  const HostMemory memory = read_host_memory(root_);
  EXPECT_EQ(memory.cgroup_limit_bytes, 500000);
  EXPECT_EQ(memory.cgroup_available_bytes, 350000);
  EXPECT_EQ(memory.usable_bytes(), 350000);
}

TEST_F(HostMemoryTest, IsTheLimitAtTheMountWithinAContainer) {
  write("proc/self/cgroup", "0::/docker/0123\n");
  write("sys/fs/cgroup/memory.max", "300000\n");
  EXPECT_EQ(read_host_memory(root_).usable_bytes(), 300000);
}

TEST_F(HostMemoryTest, IsTheLimitOfVersion1) {
  write("proc/self/cgroup", "9:cpu,cpuacct:/x\n5:memory:/slurm/job\n0::/\n");
  write("sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "400000\n");
  write("sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "100000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(read_host_memory(root_).usable_bytes(), 300000);
}

TEST_F(HostMemoryTest, IsTheAvailableMemoryWhereTheLimitIsLarger) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "900000000\n");
  EXPECT_EQ(read_host_memory(root_).usable_bytes(), 800 * 1024);
}

TEST_F(HostMemoryTest, IsNeverNegative) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "1000\n");
  write("sys/fs/cgroup/memory.current", "5000\n");
  EXPECT_EQ(read_host_memory(root_).usable_bytes(), 0);
}

TEST(HostMemory, OfThisMachineIsPositive) {
  EXPECT_GT(read_host_memory().usable_bytes(), 0);
}

}  // namespace
}  // namespace trireme::device
