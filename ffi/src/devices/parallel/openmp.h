// The OpenMP runtime that a framework brought into the process, used so that two thread pools do not fight for the CPUs.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_H_

#include <cstdint>

namespace kernpack::host {

struct OpenMp {
  void (*parallel)(void (*body)(void*), void* data, unsigned threads, unsigned flags);  // GOMP_parallel
  int (*max_threads)(void);
  int (*in_parallel)(void);
};

// NULL when no OpenMP runtime is loaded, and in a forked child, where a runtime that the parent used hangs.
const OpenMp* FindOpenMp() noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_OPENMP_H_
