#include "parallel/mpi_environment.h"

#include <gtest/gtest.h>

#include <cstring>

namespace trireme::parallel {
namespace {

TEST(LaunchedByMpi, KnowsTheVariablesOfLaunchers) {
  EXPECT_TRUE(launched_by_mpi([](const char* name) { return std::strcmp(name, "OMPI_COMM_WORLD_SIZE") == 0; }));
  EXPECT_TRUE(launched_by_mpi([](const char* name) { return std::strcmp(name, "PMIX_RANK") == 0; }));
  EXPECT_TRUE(launched_by_mpi([](const char* name) { return std::strcmp(name, "PMI_RANK") == 0; }));
  EXPECT_FALSE(launched_by_mpi([](const char* name) { return std::strcmp(name, "SLURM_PROCID") == 0; }));
  EXPECT_FALSE(launched_by_mpi([](const char*) { return false; }));
}

TEST(MpiEnvironment, NamesHostAndLibrary) {
  EXPECT_FALSE(MpiEnvironment::host_name().empty());
  EXPECT_FALSE(MpiEnvironment::library_version().empty());
}

}  // namespace
}  // namespace trireme::parallel
