// The OpenMP runtime that a framework brought into the process, used so that two thread pools do not fight for the CPUs.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_H_

#include <chrono>
#include <cstdint>

#include "devices/parallel/job.h"

namespace kernpack::host {

struct OpenMp {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);  // GOMP_parallel
  int (*max_threads)(void);
  int (*in_parallel)(void);
};

// NULL when no OpenMP runtime is loaded, and in a forked child, where a runtime that the parent used hangs.
const OpenMp* FindOpenMp() noexcept;

// Jobs on the threads of the OpenMP runtime, as long as those get to run.
// A region of OpenMP ends when all its threads were there. On CPUs that other programs use, too, a thread can come milliseconds
// after the last chunk is done, and each region would wait for it. Our own pool goes on without such a thread.
inline constexpr std::chrono::microseconds kLatest{200};  // an idle machine wakes a thread in less
inline constexpr std::chrono::milliseconds kAvoided{100};  // how long our pool is used once a thread came later

// Runs the job on `width` threads, at least 2, and returns when all came back.
void RunOnOpenMp(const OpenMp& openmp, Job& job, int32_t width);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_H_
