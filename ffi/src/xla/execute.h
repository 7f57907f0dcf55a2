// Running a call site: its plan's tensors get their addresses, on the stack, and the function is called.
#ifndef KERNPACK_SRC_XLA_EXECUTE_H_
#define KERNPACK_SRC_XLA_EXECUTE_H_

#include "xla/call_site.h"
#include "xla/xla_ffi_abi.h"

namespace kernpack::xla {

// 0, or -1 with an error raised. `device` is where the buffers are; `context` is entered for the call.
int Execute(const CallFrame& frame, CallSite* site, KpDLDevice device, KpSafeCall call, void* self,
            KpCallContext* context);

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_XLA_EXECUTE_H_
