// What `trireme doctor` finds out about a job: facts of each rank, and of each pair of ranks. Plain data; judging them
// is findings.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/command.h"
#include "runtime/device/gpu_probe.h"

namespace trireme::launch {

struct RankHealth {
  int rank = 0;
  std::string host, processor, cpus;  // cpus: that its threads would run on
  int local_rank = 0, local_size = 1;
  int num_threads = 1, num_cores_on_host = 1;
  bool cores_are_exclusive = true, bound_by_launcher = false;
  int num_instruction_sets = 0;  // of kernels::InstructionSet; 0: not even AVX2
  std::int64_t available_bytes = 0;
  std::optional<std::int64_t> cgroup_limit_bytes, cgroup_available_bytes;
  std::string huge_pages;           // chosen word of transparent_hugepage/enabled; empty: the kernel has none
  std::int64_t shm_free_bytes = 0;  // of /dev/shm; -1: there is none
  std::int64_t max_open_files = 0;
  bool may_read_peers = true;  // process_vm_readv between processes of one user (Yama's ptrace_scope)
  std::string trireme_version, mpi_version;
  device::GpuReport gpu;
};

struct PairHealth {
  int from = 0, to = 0;
  double latency_us = 0.0;  // half a round trip of 8 bytes
  double gb_per_s = 0.0;    // of 1 MiB, likewise
};

struct JobHealth {
  std::vector<RankHealth> ranks;
  std::vector<PairHealth> pairs;
};

RankHealth examine_this_rank(const CommandContext& context);

// Collective: gathers every rank's health on all ranks, and measures between rank 0 and each other rank, and between
// neighbours in the pipeline, one pair at a time.
JobHealth examine_job(const CommandContext& context);

}  // namespace trireme::launch
