// What GPUs this host has, asked through the CUDA module; works, and says why there is nothing, where the module, the
// libraries it needs, the driver or a GPU is missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::device {

struct Gpu {
  std::string name;
  std::string pci_bus_id;
  int compute_capability_major = 0;
  int compute_capability_minor = 0;
  int num_multiprocessors = 0;
  std::int64_t total_bytes = 0;
};

struct GpuReport {
  // Why the module cannot be used, in the loader's words; empty if it is loaded. Nothing else is filled in if it is
  // not.
  std::string module_error;
  std::string cuda_runtime_version;  // "13.0"
  std::string cuda_driver_version;   // newest CUDA that the driver supports; empty without a driver
  std::string nccl_version;          // "2.28.9"
  std::vector<Gpu> gpus;
  std::string error;  // why there are no GPUs, or not all
};

inline constexpr const char* kCudaModule = "libtrireme_cuda.so";

// `module`: a path, or a name that the loader looks for beside the program. The module stays loaded.
GpuReport probe_gpus(const std::string& module = kCudaModule);

}  // namespace trireme::device
