// Our own threads, for processes without an OpenMP runtime. A worker without work looks out for more for some tens of
// microseconds, if there is a CPU for every thread of the pool, and then sleeps.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_POOL_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_POOL_H_

#include <cstdint>

#include "devices/parallel/job.h"

namespace kernpack::host {

// KERNPACK_NUM_THREADS or what kp_set_num_threads set; 0 when neither did. A bad value is logged once and ignored.
int32_t RequestedThreads() noexcept;

// How many threads RunOnPool would use: the request, else one a CPU this process may run on.
int32_t PoolWidth() noexcept;
// Runs the job on this thread and up to width - 1 workers; returns when all came back.
void RunOnPool(Job& job, int32_t width);
// Ends and joins the workers; the next RunOnPool starts new ones. No job may be running.
void StopPool();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_POOL_H_
