// Jobs on the threads of the OpenMP runtime, as long as those get to run.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_TEAM_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_TEAM_H_

#include <chrono>
#include <cstdint>

#include "devices/parallel/job.h"
#include "devices/parallel/openmp.h"

namespace kernpack::host {

// A region of OpenMP ends when all its threads were there. On CPUs that other programs use, too, a thread can come milliseconds
// after the last chunk is done, and each region would wait for it. Our own pool goes on without such a thread.
inline constexpr std::chrono::microseconds kLatest{200};  // an idle machine wakes a thread in less
inline constexpr std::chrono::milliseconds kAvoided{100};  // how long our pool is used once a thread came later

// Runs the job on `width` threads, at least 2, and returns when all came back.
void RunOnOpenMp(const OpenMp& openmp, Job& job, int32_t width);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_TEAM_H_
