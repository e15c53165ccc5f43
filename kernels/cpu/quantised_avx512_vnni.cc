#include "kernels/cpu/quantised_task.h"

#include <array>
#include <utility>

#include <immintrin.h>

#include "hwy/base.h"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,fma,f16c")
#include "kernels/cpu/quantised_tile-inl.h"
#include "kernels/cpu/vectors_512-inl.h"

namespace trireme::kernels::cpu {

void quantised_task_avx512_vnni(const QuantisedTask& task) {
  run_quantised_task<Avx512Vnni>(task);
}

}  // namespace trireme::kernels::cpu
HWY_POP_ATTRIBUTES
