// The one place where checked calls begin: kp_function_resolve hands out a stand-in for the kernel's function.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_ENTRY_H_
#define KERNPACK_SRC_OBSERVE_CHECK_ENTRY_H_

#include <kernpack/host/host.h>

namespace kernpack::host::check {

// Replaces what calls `function` by what calls it under checks. The stand-in may be kept: while checks are not requested it
// calls straight on.
void StandIn(const KpLoadedFunction* function, KpSafeCall* call, void** self);

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_ENTRY_H_
