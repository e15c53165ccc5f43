#include "launch/doctor/health_json.h"

#include <nlohmann/json.hpp>

namespace trireme::launch {
namespace {

using nlohmann::ordered_json;

ordered_json optional_json(const std::optional<std::int64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::optional<std::int64_t> optional_from(const ordered_json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>());
}

ordered_json gpu_json(const device::GpuReport& report) {
  ordered_json gpus = ordered_json::array();
  for (const device::Gpu& gpu : report.gpus) {
    gpus.push_back({{"name", gpu.name}, {"pci_bus_id", gpu.pci_bus_id}, {"total_bytes", gpu.total_bytes}});
  }
  return {{"module_error", report.module_error},
          {"error", report.error},
          {"cuda_runtime", report.cuda_runtime_version},
          {"cuda_driver", report.cuda_driver_version},
          {"nccl", report.nccl_version},
          {"gpus", std::move(gpus)}};
}

device::GpuReport gpu_from(const ordered_json& object) {
  device::GpuReport report;
  report.module_error = object.at("module_error");
  report.error = object.at("error");
  report.cuda_runtime_version = object.at("cuda_runtime");
  report.cuda_driver_version = object.at("cuda_driver");
  report.nccl_version = object.at("nccl");
  for (const ordered_json& gpu : object.at("gpus")) {
    device::Gpu& added = report.gpus.emplace_back();
    added.name = gpu.at("name");
    added.pci_bus_id = gpu.at("pci_bus_id");
    added.total_bytes = gpu.at("total_bytes");
  }
  return report;
}

}  // namespace

ordered_json to_json(const RankHealth& health) {
  return {{"rank", health.rank},
          {"host", health.host},
          {"processor", health.processor},
          {"cpus", health.cpus},
          {"local_rank", health.local_rank},
          {"local_size", health.local_size},
          {"threads", health.num_threads},
          {"cores_on_host", health.num_cores_on_host},
          {"cores_are_exclusive", health.cores_are_exclusive},
          {"bound_by_launcher", health.bound_by_launcher},
          {"instruction_sets", health.num_instruction_sets},
          {"available_bytes", health.available_bytes},
          {"cgroup_limit_bytes", optional_json(health.cgroup_limit_bytes)},
          {"cgroup_available_bytes", optional_json(health.cgroup_available_bytes)},
          {"huge_pages", health.huge_pages},
          {"shm_free_bytes", health.shm_free_bytes},
          {"max_open_files", health.max_open_files},
          {"may_read_peers", health.may_read_peers},
          {"trireme", health.trireme_version},
          {"mpi", health.mpi_version},
          {"gpu", gpu_json(health.gpu)}};
}

RankHealth rank_health_from_json(const ordered_json& object) {
  RankHealth health;
  health.rank = object.at("rank");
  health.host = object.at("host");
  health.processor = object.at("processor");
  health.cpus = object.at("cpus");
  health.local_rank = object.at("local_rank");
  health.local_size = object.at("local_size");
  health.num_threads = object.at("threads");
  health.num_cores_on_host = object.at("cores_on_host");
  health.cores_are_exclusive = object.at("cores_are_exclusive");
  health.bound_by_launcher = object.at("bound_by_launcher");
  health.num_instruction_sets = object.at("instruction_sets");
  health.available_bytes = object.at("available_bytes");
  health.cgroup_limit_bytes = optional_from(object.at("cgroup_limit_bytes"));
  health.cgroup_available_bytes = optional_from(object.at("cgroup_available_bytes"));
  health.huge_pages = object.at("huge_pages");
  health.shm_free_bytes = object.at("shm_free_bytes");
  health.max_open_files = object.at("max_open_files");
  health.may_read_peers = object.at("may_read_peers");
  health.trireme_version = object.at("trireme");
  health.mpi_version = object.at("mpi");
  health.gpu = gpu_from(object.at("gpu"));
  return health;
}

}  // namespace trireme::launch
