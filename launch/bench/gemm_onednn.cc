// Module: oneDNN's matrix products.
#include <dnnl.h>
#include <omp.h>

#include <cstdint>
#include <vector>

#include "base/check.h"
#include "launch/bench/gemm_library.h"
#include "launch/bench/repetitions.h"

namespace trireme::launch {
namespace {

constexpr std::chrono::milliseconds kAtLeast{60};

std::string isa_name() {
  switch (dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx2: return "AVX2";
    case dnnl_cpu_isa_avx2_vnni: return "AVX2 with VNNI";
    case dnnl_cpu_isa_avx512_core: return "AVX-512";
    case dnnl_cpu_isa_avx512_core_vnni: return "AVX-512 with VNNI";
    case dnnl_cpu_isa_avx512_core_bf16: return "AVX-512 with BF16";
    case dnnl_cpu_isa_avx512_core_amx: return "AMX";
    default: return "instruction set " + std::to_string(dnnl_get_effective_cpu_isa());
  }
}

void check(dnnl_status_t status, const char* call) {
  TRIREME_CHECK(status == dnnl_success) << call << " returned " << status;
}

class OneDnn : public GemmLibrary {
 public:
  std::string name() const override {
    const dnnl_version_t& version = *dnnl_version();
    return "oneDNN " + std::to_string(version.major) + "." + std::to_string(version.minor) + "." +
           std::to_string(version.patch) + " (" + isa_name() + ")";
  }

  double f32_seconds(const GemmShape& shape, int num_threads) override {
    const dnnl_dim_t m = shape.rows, n = shape.out_features, k = shape.in_features;
    const std::vector<float> a(static_cast<std::size_t>(m * k), 0.5f), b(static_cast<std::size_t>(k * n), 0.25f);
    std::vector<float> c(static_cast<std::size_t>(m * n));
    omp_set_num_threads(num_threads);
    return best_seconds(
        [&] { check(dnnl_sgemm('N', 'N', m, n, k, 1.0f, a.data(), k, b.data(), n, 0.0f, c.data(), n), "dnnl_sgemm"); },
        kAtLeast);
  }

  double u8s8_seconds(const GemmShape& shape, int num_threads) override {
    const dnnl_dim_t m = shape.rows, n = shape.out_features, k = shape.in_features;
    const std::vector<std::uint8_t> a(static_cast<std::size_t>(m * k), 3);
    const std::vector<std::int8_t> b(static_cast<std::size_t>(k * n), -2);
    std::vector<std::int32_t> c(static_cast<std::size_t>(m * n));
    const std::int32_t no_offset = 0;
    omp_set_num_threads(num_threads);
    return best_seconds(
        [&] {
          check(dnnl_gemm_u8s8s32('N', 'N', 'F', m, n, k, 1.0f, a.data(), k, 0, b.data(), n, 0, 0.0f, c.data(), n,
                                  &no_offset),
                "dnnl_gemm_u8s8s32");
        },
        kAtLeast);
  }
};

}  // namespace
}  // namespace trireme::launch

extern "C" trireme::launch::GemmLibrary* trireme_make_gemm_library() {
  return new trireme::launch::OneDnn;
}
