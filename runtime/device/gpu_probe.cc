#include "runtime/device/gpu_probe.h"

#include <dlfcn.h>

#include <algorithm>

#include "runtime/device/cuda/module_abi.h"

namespace trireme::device {
namespace {

template <typename Function>
Function* find_symbol(void* module, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(module, name));
}

std::string cuda_version(std::int32_t version) {
  if (version == 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string nccl_version(std::int32_t version) {
  if (version == 0) return "";
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

Gpu to_gpu(const TriremeGpu& gpu) {
  return {gpu.name,
          gpu.pci_bus_id,
          gpu.compute_capability_major,
          gpu.compute_capability_minor,
          gpu.num_multiprocessors,
          gpu.total_bytes};
}

GpuReport failed(std::string why) {
  GpuReport report;
  report.module_error = std::move(why);
  return report;
}

}  // namespace

GpuReport probe_gpus(const std::string& module_path) {
  void* module = ::dlopen(module_path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) return failed(::dlerror());
  const auto abi_version = find_symbol<decltype(trireme_cuda_abi_version)>(module, "trireme_cuda_abi_version");
  const auto fill_report = find_symbol<decltype(trireme_cuda_report)>(module, "trireme_cuda_report");
  if (abi_version == nullptr || fill_report == nullptr) return failed(module_path + ": not a module of this program");
  if (abi_version() != kTriremeCudaAbiVersion) {
    return failed(module_path + ": made for another version of this program; build both together");
  }
  TriremeCudaReport filled;
  fill_report(&filled);
  GpuReport report;
  report.cuda_runtime_version = cuda_version(filled.runtime_version);
  report.cuda_driver_version = cuda_version(filled.driver_version);
  report.nccl_version = nccl_version(filled.nccl_version);
  report.error = filled.error;
  std::transform(filled.gpus, filled.gpus + filled.num_gpus, std::back_inserter(report.gpus), to_gpu);
  return report;
}

}  // namespace trireme::device
