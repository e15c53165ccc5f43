// Module: OpenBLAS's matrix products.
#include <cblas.h>

#include <vector>

#include "launch/bench/gemm_library.h"
#include "launch/bench/repetitions.h"

namespace trireme::launch {
namespace {

constexpr std::chrono::milliseconds kAtLeast{60};

class OpenBlas : public GemmLibrary {
 public:
  std::string name() const override {
    const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 …"
    return config.substr(0, config.find(' ', config.find(' ') + 1)) + " (" + openblas_get_corename() + ")";
  }

  double f32_seconds(const GemmShape& shape, int num_threads) override {
    const int m = static_cast<int>(shape.rows), n = static_cast<int>(shape.out_features),
              k = static_cast<int>(shape.in_features);
    const std::vector<float> a(static_cast<std::size_t>(m) * static_cast<std::size_t>(k), 0.5f),
        b(static_cast<std::size_t>(k) * static_cast<std::size_t>(n), 0.25f);
    std::vector<float> c(static_cast<std::size_t>(m) * static_cast<std::size_t>(n));
    openblas_set_num_threads(num_threads);
    return best_seconds(
        [&] {
          cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1.0f, a.data(), k, b.data(), n, 0.0f,
                      c.data(), n);
        },
        kAtLeast);
  }

  double u8s8_seconds(const GemmShape&, int) override { return 0.0; }
};

}  // namespace
}  // namespace trireme::launch

extern "C" trireme::launch::GemmLibrary* trireme_make_gemm_library() {
  return new trireme::launch::OpenBlas;
}
