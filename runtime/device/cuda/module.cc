// The CUDA module: see module_abi.h.
#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "runtime/device/cuda/module_abi.h"

namespace {

template <std::size_t kSize>
void copy_text(char (&target)[kSize], std::string_view text) {
  const std::size_t length = std::min(text.size(), kSize - 1);
  std::memcpy(target, text.data(), length);
  target[length] = '\0';
}

bool succeeded(cudaError_t code, TriremeCudaReport& report) {
  if (code == cudaSuccess) return true;
  copy_text(report.error, cudaGetErrorString(code));
  return false;
}

bool describe(int device, TriremeGpu& gpu, TriremeCudaReport& report) {
  cudaDeviceProp properties;
  if (!succeeded(cudaGetDeviceProperties(&properties, device), report)) return false;
  if (!succeeded(cudaDeviceGetPCIBusId(gpu.pci_bus_id, sizeof gpu.pci_bus_id, device), report)) return false;
  copy_text(gpu.name, properties.name);
  gpu.compute_capability_major = properties.major;
  gpu.compute_capability_minor = properties.minor;
  gpu.num_multiprocessors = properties.multiProcessorCount;
  gpu.total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  return true;
}

}  // namespace

std::int32_t trireme_cuda_abi_version() {
  return kTriremeCudaAbiVersion;
}

void trireme_cuda_report(TriremeCudaReport* report) {
  *report = {};
  int nccl_version = 0, num_gpus = 0;
  if (ncclGetVersion(&nccl_version) == ncclSuccess) report->nccl_version = nccl_version;
  if (!succeeded(cudaRuntimeGetVersion(&report->runtime_version), *report)) return;
  if (!succeeded(cudaDriverGetVersion(&report->driver_version), *report)) return;
  if (!succeeded(cudaGetDeviceCount(&num_gpus), *report)) return;
  num_gpus = std::min(num_gpus, int{kTriremeMaxGpus});
  for (int device = 0; device < num_gpus; ++device) {
    if (!describe(device, report->gpus[device], *report)) return;
    report->num_gpus = device + 1;
  }
}
