// Calls of the handlers into the XLA runtime. Hides the differences between minor versions of its API.
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

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_RUNTIME_H_
