// A function of a device, with all that touches memory inside launches.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_LAUNCHES_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_LAUNCHES_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// `f` is lowered. What stays outside of launches runs on the host: bindings, checks, loops around launches, memory for
// intermediate values.
//   - A parallel loop becomes a launch of a thread an iteration, in blocks of `width` threads; what the last one has too many do
//     nothing.
//   - Other statements that touch memory become launches of one thread. Where what they bind is used by others, that is the whole
//     function.
//   - Local memory that is too large for a thread's own, or of a size known only at run time, becomes workspace.
PrimFunc WithLaunches(const FuncNode& f, int64_t width);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_LAUNCHES_H_
