#include "runtime/device/cpu_topology.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <set>
#include <thread>
#include <vector>

namespace trireme::device {
namespace {

std::vector<Core> plain_cores(int count) {
  std::vector<Core> cores;
  for (int i = 0; i < count; ++i) cores.push_back({{i}});
  return cores;
}

TEST(Cores, OfADescribedMachineJoinSiblingCpus) {
  const std::vector<Core> cores = synthetic_cores("pack:2 core:2 pu:2");
  EXPECT_EQ(cores, (std::vector<Core>{{{0, 1}}, {{2, 3}}, {{4, 5}}, {{6, 7}}}));
}

TEST(CoresForRank, GiveEveryCoreToExactlyOneRank) {
  for (const int num_cores : {1, 2, 3, 7, 16, 64}) {
    for (int num_ranks = 1; num_ranks <= num_cores; ++num_ranks) {
      std::multiset<int> given;
      for (int rank = 0; rank < num_ranks; ++rank) {
        const RankCores share = cores_for_rank(plain_cores(num_cores), rank, num_ranks, 0);
        EXPECT_TRUE(share.exclusive);
        EXPECT_GE(share.cores.size(), static_cast<std::size_t>(num_cores / num_ranks));
        for (const Core& core : share.cores) given.insert(core.cpus[0]);
      }
      EXPECT_EQ(given.size(), static_cast<std::size_t>(num_cores));
      EXPECT_EQ(std::set<int>(given.begin(), given.end()).size(), given.size());
    }
  }
}

TEST(CoresForRank, GiveOneSharedCoreWhereRanksAreMoreThanCores) {
  for (int rank = 0; rank < 4; ++rank) {
    const RankCores share = cores_for_rank(plain_cores(2), rank, 4, 0);
    ASSERT_EQ(share.cores.size(), 1u);
    EXPECT_EQ(share.cores[0].cpus[0], rank / 2);
    EXPECT_FALSE(share.exclusive);
  }
}

TEST(CoresForRank, GiveAsManyAsAskedFor) {
  const RankCores fewer = cores_for_rank(plain_cores(8), 1, 2, 2);
  EXPECT_EQ(fewer.cores, (std::vector<Core>{{{4}}, {{5}}}));
  EXPECT_TRUE(fewer.exclusive);
  const RankCores more = cores_for_rank(plain_cores(4), 1, 2, 3);
  EXPECT_EQ(more.cores, (std::vector<Core>{{{2}}, {{3}}, {{0}}}));
  EXPECT_FALSE(more.exclusive);
  EXPECT_EQ(cores_for_rank(plain_cores(1), 0, 1, 5).cores.size(), 5u);
}

TEST(HostCores, IgnoreTheBindingOfMpirunWhenAsked) {
  std::thread([] {
    const std::vector<Core> all = host_cores(Binding::kIgnore);
    ASSERT_TRUE(bind_this_thread({{{all.back().cpus.back()}}}));
    EXPECT_EQ(host_cores(Binding::kIgnore), all);
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(bind_this_thread(all));
  }).join();
}

TEST(HostCores, AreThoseOfTheProcessOtherwise) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  for (const Core& core : host_cores(Binding::kRespect)) {
    for (const int cpu : core.cpus) EXPECT_TRUE(CPU_ISSET(cpu, &set)) << cpu;
  }
}

TEST(Binding, ToACpuThatDoesNotExistIsRefused) {
  std::thread([] { EXPECT_FALSE(bind_this_thread({{{100'000}}})); }).join();
}

TEST(DescribeCpus, JoinsNeighboursIntoRanges) {
  EXPECT_EQ(describe_cpus({{{0, 1}}, {{2, 3}}, {{8}}}), "0-3,8");
  EXPECT_EQ(describe_cpus({{{5}}, {{2}}, {{5}}}), "2,5");
  EXPECT_EQ(describe_cpus({}), "");
}

}  // namespace
}  // namespace trireme::device
