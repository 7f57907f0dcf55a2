// The one place where profiled calls begin: kp_function_resolve hands out a stand-in for the kernel's function.
#ifndef KERNPACK_SRC_OBSERVE_PROFILE_ENTRY_H_
#define KERNPACK_SRC_OBSERVE_PROFILE_ENTRY_H_

#include <string>

#include <kernpack/host/host.h>

namespace kernpack::host::profile {

// One for each function and variant that was called under a profile; immortal, as functions are.
struct Entry {
  const KpLoadedFunction* function;
  const char* target;  // of the variant; NULL: the baseline
  KpSafeCall call;
  void* self;
  std::string name;  // "module.function"
};

// Replaces what calls `function`, `variant_call` being the variant's own function, by what calls and records it. The stand-in
// may be kept: while no profile runs it calls straight on.
void StandIn(const KpLoadedFunction* function, KpSafeCall variant_call, KpSafeCall* call, void** self);

}  // namespace kernpack::host::profile

#endif  // KERNPACK_SRC_OBSERVE_PROFILE_ENTRY_H_
