// The checks of a call under a signature. No exception passes through them, so this file is compiled without unwind tables.
#include <kernpack/signature/invoke.h>

extern "C" KP_HIDDEN int kp_signature_invoke(const uint32_t* program, const char* function, const KpAny* args,
                                             int32_t n, KpAny* result,
                                             const kernpack::signature::InvokePolicy& policy) {
  return kernpack::signature::Invoke(program, function, args, n, result, policy);
}
