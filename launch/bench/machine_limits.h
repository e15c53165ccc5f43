// MachineLimits: what the cores of this host that a job uses can do at most: read memory, and multiply matrices with
// the best of other libraries.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launch/bench/gemm_library.h"
#include "launch/bench/read_bandwidth.h"
#include "runtime/device/cpu_topology.h"

namespace trireme::launch {

struct MachineLimits {
  double read_gb_per_s = 0.0;
  double gemm_f32_gflops = 0.0;
  double gemm_int8_gops = 0.0;  // u8 * s8; 0 without oneDNN
};

class LimitMeter {
 public:
  // One thread per core in `cores`. Holds as much memory as reading needs (beyond_cache_bytes) until it is destroyed.
  LimitMeter(const std::vector<device::Core>& cores, std::size_t available_bytes);
  ~LimitMeter();

  // Takes a second or two on all of the cores, in threads of its own; the calling thread waits.
  MachineLimits measure();

  int num_threads() const { return static_cast<int>(cores_.size()); }
  std::vector<std::string> library_names() const;
  const std::vector<std::string>& missing_libraries() const { return libraries_.missing; }

 private:
  void in_bound_thread(const std::function<void()>& body) const;
  double best_gemm(double (GemmLibrary::*seconds)(const GemmShape&, int));

  std::vector<device::Core> cores_;
  GemmLibraries libraries_;
  std::unique_ptr<kernels::ThreadPool> pool_;
  std::unique_ptr<ReadBandwidth> reading_;
};

}  // namespace trireme::launch
