// Matrix products of other libraries, as a limit to compare with; absent ones measure 0.
#pragma once

#include <cstdint>

namespace trireme::bench {

struct SgemmShape {
  std::int64_t rows, out_features, in_features;
};

// Best rate in GFLOP/s of several float32 products [rows, in] * [in, out] on `num_threads` threads; 0 where the library
// was not found at build time.
double openblas_gflops(const SgemmShape& shape, int num_threads);
double onednn_gflops(const SgemmShape& shape, int num_threads);

}  // namespace trireme::bench
