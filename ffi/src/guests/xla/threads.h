// XLA's CPU thread pool as the call's parallel_for, so that kernels do not fight XLA for the cores.
#ifndef KERNPACK_SRC_GUESTS_XLA_THREADS_H_
#define KERNPACK_SRC_GUESTS_XLA_THREADS_H_

#include <kernpack/abi.h>

#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

// The number of threads; 1 where the runtime has no pool.
int32_t PoolWidth(const CallFrame* frame);

// KpCallContext::parallel_for: the host asks for one piece a thread. `frame` is the const CallFrame* of the execution.
int ParallelFor(void* frame, int64_t n, int64_t grain, KpParallelBody body, void* body_context);

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_THREADS_H_
