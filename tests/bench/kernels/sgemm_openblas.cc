#include <cblas.h>

#include <vector>

#include "tests/bench/kernels/bench_support.h"
#include "tests/bench/kernels/sgemm_yardstick.h"

namespace trireme::bench {

double openblas_gflops(const SgemmShape& shape, int num_threads) {
  const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.out_features),
            k = static_cast<int>(shape.in_features);
  std::vector<float> a(static_cast<std::size_t>(m) * k, 0.5f), b(static_cast<std::size_t>(k) * n, 0.25f),
      c(static_cast<std::size_t>(m) * n);
  openblas_set_num_threads(num_threads);
  const double seconds = best_seconds([&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a.data(), k, b.data(), n, 0.0f, c.data(), n);
  });
  return 2e-9 * m * n * k / seconds;
}

}  // namespace trireme::bench
