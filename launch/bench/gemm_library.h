// GemmLibrary: matrix products of another library, as a limit to compare with. Each lies in a module of its own beside
// the program and is loaded when it is asked for, so that nothing else depends on it and the program starts quickly.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace trireme::launch {

// [rows, in_features] * [in_features, out_features]
struct GemmShape {
  std::int64_t rows = 0, out_features = 0, in_features = 0;
  double operations() const {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(out_features) * static_cast<double>(in_features);
  }
};

class GemmLibrary {
 public:
  virtual ~GemmLibrary() = default;
  virtual std::string name() const = 0;  // with version, and what it was compiled or has chosen for
  // Shortest time of several products on so many threads, which run where the calling thread may run; 0: not offered.
  virtual double f32_seconds(const GemmShape& shape, int num_threads) = 0;
  virtual double u8s8_seconds(const GemmShape& shape, int num_threads) = 0;  // int32 sums
};

// What a module exports; null if the library cannot be used on this machine.
using MakeGemmLibrary = GemmLibrary*();
inline constexpr const char* kMakeGemmLibrary = "trireme_make_gemm_library";

struct GemmLibraries {
  std::vector<std::unique_ptr<GemmLibrary>> loaded;
  std::vector<std::string> missing;  // why, in the loader's words
};

// Loads every module that lies beside the program. They stay loaded.
GemmLibraries load_gemm_libraries();

}  // namespace trireme::launch
