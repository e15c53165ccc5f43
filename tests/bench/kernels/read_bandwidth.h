// The rate at which this machine's threads can read memory: the limit of decoding.
#pragma once

#include "kernels/thread_pool.h"

namespace trireme::bench {

// Best of several read kernels over a buffer that no cache holds, in GB/s; measured once per number of threads.
double read_bandwidth_gbps(kernels::ThreadPool& pool);

}  // namespace trireme::bench
