#include <dnnl.h>
#include <omp.h>

#include <vector>

#include "base/check.h"
#include "tests/bench/kernels/bench_support.h"
#include "tests/bench/kernels/sgemm_yardstick.h"

namespace trireme::bench {

double onednn_gflops(const SgemmShape& shape, int num_threads) {
  const dnnl_dim_t m = shape.rows, n = shape.out_features, k = shape.in_features;
  std::vector<float> a(static_cast<std::size_t>(m * k), 0.5f), b(static_cast<std::size_t>(k * n), 0.25f),
      c(static_cast<std::size_t>(m * n));
  omp_set_num_threads(num_threads);
  const double seconds = best_seconds([&] {
    const auto status = dnnl_sgemm('N', 'N', m, n, k, 1.0f, a.data(), k, b.data(), n, 0.0f, c.data(), n);
    TRIREME_CHECK(status == dnnl_success) << "dnnl_sgemm returned " << status;
  });
  return 2e-9 * static_cast<double>(m * n * k) / seconds;
}

}  // namespace trireme::bench
