#include "launch/bench/machine_limits.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "base/check.h"

namespace trireme::launch {
namespace {

constexpr int kReadPasses = 3;

// What models multiply in prefill, and what libraries are fastest at.
constexpr GemmShape kShapes[] = {{512, 3072, 576}, {512, 4096, 1024}, {1024, 1024, 1024}, {1536, 1536, 1536}};

std::vector<int> first_cpus(const std::vector<device::Core>& cores) {
  std::vector<int> cpus;
  for (const device::Core& core : cores) cpus.push_back(core.cpus.front());
  return cpus;
}

}  // namespace

LimitMeter::LimitMeter(const std::vector<device::Core>& cores, std::size_t available_bytes) : cores_(cores) {
  TRIREME_CHECK(!cores_.empty());
  in_bound_thread([&] {
    libraries_ = load_gemm_libraries();  // whose threads run where this one may
    pool_ = std::make_unique<kernels::ThreadPool>(num_threads(), first_cpus(cores_));
    reading_ = std::make_unique<ReadBandwidth>(beyond_cache_bytes(available_bytes), *pool_);
  });
}

LimitMeter::~LimitMeter() = default;

// A thread of its own, so that neither the binding nor the teams of threads that libraries keep per thread stay.
void LimitMeter::in_bound_thread(const std::function<void()>& body) const {
  std::exception_ptr error;
  std::thread thread([&] {
    try {
      device::bind_this_thread(cores_);
      body();
    } catch (...) {
      error = std::current_exception();
    }
  });
  thread.join();
  if (error) std::rethrow_exception(error);
}

double LimitMeter::best_gemm(double (GemmLibrary::*seconds)(const GemmShape&, int)) {
  double best = 0.0;
  for (const auto& library : libraries_.loaded) {
    for (const GemmShape& shape : kShapes) {
      const double taken = ((*library).*seconds)(shape, num_threads());
      if (taken > 0.0) best = std::max(best, shape.operations() * 1e-9 / taken);
    }
  }
  return best;
}

MachineLimits LimitMeter::measure() {
  MachineLimits limits;
  in_bound_thread([&] {
    limits.gemm_f32_gflops = best_gemm(&GemmLibrary::f32_seconds);
    limits.gemm_int8_gops = best_gemm(&GemmLibrary::u8s8_seconds);
  });
  in_bound_thread([&] {
    pool_->pin_caller();
    limits.read_gb_per_s = reading_->measure(kReadPasses);
  });
  return limits;
}

std::vector<std::string> LimitMeter::library_names() const {
  std::vector<std::string> names;
  for (const auto& library : libraries_.loaded) names.push_back(library->name());
  return names;
}

}  // namespace trireme::launch
