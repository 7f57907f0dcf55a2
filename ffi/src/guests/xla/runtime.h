// Calls of the handlers into the XLA runtime. Hides the differences between minor versions of its API. XLA's CPU thread pool becomes
// the call's parallel_for, so that kernels do not fight XLA for the cores.
#ifndef KERNPACK_SRC_GUESTS_XLA_RUNTIME_H_
#define KERNPACK_SRC_GUESTS_XLA_RUNTIME_H_

#include <kernpack/abi.h>

#include "guests/xla/xla_ffi_abi.h"

namespace kernpack::xla {

struct CallSite;

// If XLA only asks what the handler is, answers and returns true. `stateful` names the state type in the answer.
bool AnswerMetadata(CallFrame* frame, bool stateful);

// NULL when the runtime is one whose layouts we know, else an error that names both versions.
Error* CheckRuntime(const CallFrame* frame);

Error* MakeError(const Api* api, ErrorCode code, const char* message);
// The error raised in this thread as "[<kind>] <message>", from which Python restores the exception's type.
Error* TakeRaised(const Api* api, const char* who, int rc);

// Hands `state` to XLA, which frees it with the executable; takes ownership in every case.
Error* SetCallSite(const CallFrame* frame, CallSite* site);
Error* GetCallSite(const CallFrame* frame, CallSite** out);

// The number of threads; 1 where the runtime has no pool.
int32_t PoolWidth(const CallFrame* frame);

// KpCallContext::parallel_for: the host asks for one piece a thread. `frame` is the const CallFrame* of the execution.
int ParallelFor(void* frame, int64_t n, int64_t grain, KpParallelBody body, void* body_context);

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_RUNTIME_H_
