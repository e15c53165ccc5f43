#include "launch/doctor/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/doctor/health_json.h"

namespace trireme::launch {
namespace {

using testing::HasSubstr;

RankHealth healthy_rank(int rank) {
  RankHealth health;
  health.rank = rank;
  health.host = "a";
  health.processor = "some processor";
  health.cpus = std::to_string(rank);
  health.local_rank = rank;
  health.local_size = 2;
  health.num_threads = 2;
  health.num_cores_on_host = 4;
  health.num_instruction_sets = 2;
  health.available_bytes = std::int64_t{16} << 30;
  health.huge_pages = "madvise";
  health.shm_free_bytes = std::int64_t{1} << 30;
  health.max_open_files = 1 << 16;
  health.trireme_version = "1";
  health.mpi_version = "Open MPI";
  health.gpu.module_error = "not found";
  return health;
}

JobHealth healthy_job() {
  return {{healthy_rank(0), healthy_rank(1)}, {{0, 1, 1.5, 5.0}}};
}

Severity worst(const std::vector<Finding>& findings) {
  const auto found = std::max_element(findings.begin(), findings.end(),
                                      [](const auto& a, const auto& b) { return a.severity < b.severity; });
  return found->severity;
}

// The one finding that is not fine, if rank 1 is changed like this.
Finding after(const std::function<void(RankHealth&)>& change) {
  JobHealth job = healthy_job();
  change(job.ranks[1]);
  const auto findings = diagnose(job);
  const auto bad = [](const Finding& finding) { return finding.severity != Severity::kFine; };
  EXPECT_EQ(std::count_if(findings.begin(), findings.end(), bad), 1);
  const auto found = std::find_if(findings.begin(), findings.end(), bad);
  EXPECT_FALSE(found->advice.empty());
  return *found;
}

TEST(FindingsTest, AHealthyJobIsFineEverywhere) {
  EXPECT_EQ(worst(diagnose(healthy_job())), Severity::kFine);
}

TEST(FindingsTest, WhatMakesARunFailIsAnError) {
  EXPECT_EQ(after([](RankHealth& rank) { rank.trireme_version = "2"; }).severity, Severity::kError);
  EXPECT_EQ(after([](RankHealth& rank) { rank.mpi_version = "MPICH"; }).severity, Severity::kError);
  EXPECT_EQ(after([](RankHealth& rank) { rank.available_bytes = 1 << 20; }).severity, Severity::kError);
  EXPECT_EQ(after([](RankHealth& rank) { rank.cgroup_available_bytes = 1 << 20; }).severity, Severity::kError);
  const Finding shm = after([](RankHealth& rank) { rank.shm_free_bytes = 1 << 20; });
  EXPECT_EQ(shm.severity, Severity::kError);
  EXPECT_THAT(shm.text, HasSubstr("rank 1 (a)"));
}

TEST(FindingsTest, WhatMakesItSlowIsAWarningThatNamesTheRank) {
  for (const auto& change : std::vector<std::function<void(RankHealth&)>>{
           [](RankHealth& rank) { rank.cores_are_exclusive = false; },
           [](RankHealth& rank) { rank.num_instruction_sets = 0; },
           [](RankHealth& rank) { rank.num_instruction_sets = 1; },
           [](RankHealth& rank) { rank.huge_pages = "never"; },
           [](RankHealth& rank) { rank.max_open_files = 256; },
           [](RankHealth& rank) { rank.may_read_peers = false; },
       }) {
    const Finding finding = after(change);
    EXPECT_EQ(finding.severity, Severity::kWarning) << finding.text;
    EXPECT_THAT(finding.text, HasSubstr("rank 1 (a)"));
  }
}

TEST(FindingsTest, IdleCoresAndSlowLinksAreWarnings) {
  JobHealth job = healthy_job();
  for (RankHealth& rank : job.ranks) rank.num_threads = 1;
  EXPECT_EQ(worst(diagnose(job)), Severity::kWarning);
  job = healthy_job();
  job.pairs[0].latency_us = 300.0;
  EXPECT_EQ(worst(diagnose(job)), Severity::kWarning);
  job.ranks[1].host = "b";  // usual between hosts
  EXPECT_EQ(worst(diagnose(job)), Severity::kFine);
  job.pairs[0].gb_per_s = 0.05;
  EXPECT_EQ(worst(diagnose(job)), Severity::kWarning);
}

TEST(FindingsTest, AGpuThatCannotBeUsedIsAWarning) {
  JobHealth job = healthy_job();
  job.ranks[0].gpu = {};
  job.ranks[0].gpu.error = "no driver";
  EXPECT_EQ(worst(diagnose(job)), Severity::kWarning);
}

TEST(HealthJsonTest, ARankKeepsItsHealthOnTheWay) {
  RankHealth rank = healthy_rank(1);
  rank.cgroup_limit_bytes = 5;
  rank.gpu.gpus = {{"H200", "0000:01:00.0", 9, 0, 132, 7}};
  const nlohmann::ordered_json object = to_json(rank);
  EXPECT_EQ(to_json(rank_health_from_json(nlohmann::ordered_json::parse(object.dump()))), object);
  EXPECT_THROW(rank_health_from_json({{"rank", 1}}), nlohmann::json::exception);
}

}  // namespace
}  // namespace trireme::launch
