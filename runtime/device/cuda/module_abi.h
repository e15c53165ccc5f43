// What the program and its CUDA module (libtrireme_cuda.so) agree on. The module is the only part that links the CUDA
// and NCCL libraries; it is loaded at run time, so that one binary starts everywhere. Plain C, because the two need not
// come from the same compiler.
#pragma once

#include <cstdint>

extern "C" {

constexpr std::int32_t kTriremeCudaAbiVersion = 1;
constexpr std::int32_t kTriremeMaxGpus = 32;

struct TriremeGpu {
  char name[256];
  char pci_bus_id[32];  // domain:bus:device.function
  std::int32_t compute_capability_major;
  std::int32_t compute_capability_minor;
  std::int32_t num_multiprocessors;
  std::int64_t total_bytes;
};

struct TriremeCudaReport {
  std::int32_t driver_version;   // CUDA version that the driver supports, 1000 * major + 10 * minor; 0: no driver
  std::int32_t runtime_version;  // likewise, of the library
  std::int32_t nccl_version;     // 10000 * major + 100 * minor + patch
  std::int32_t num_gpus;         // at most kTriremeMaxGpus are described
  char error[256];               // why there are no GPUs, in CUDA's words; empty if there are
  TriremeGpu gpus[kTriremeMaxGpus];
};

// The module's only symbols.
std::int32_t trireme_cuda_abi_version();
// Opens no CUDA context; any thread may call it. The report is overwritten.
void trireme_cuda_report(TriremeCudaReport* report);
}
