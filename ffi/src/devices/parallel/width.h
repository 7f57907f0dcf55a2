// How many threads our own pool may use.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_WIDTH_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_WIDTH_H_

#include <cstdint>

namespace kernpack::host {

// CPUs this process may run on (sched_getaffinity); at least 1.
int32_t AvailableCpus() noexcept;
// KERNPACK_NUM_THREADS or what kp_set_num_threads set; 0 when neither did. A bad value is logged once and ignored.
int32_t RequestedThreads() noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_WIDTH_H_
