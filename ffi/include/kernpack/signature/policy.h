// The services that a checked call (invoke.h) needs from its caller, which is an alias or kp_call.
#ifndef KERNPACK_SIGNATURE_POLICY_H_
#define KERNPACK_SIGNATURE_POLICY_H_

#include <kernpack/config.h>

KP_NAMESPACE_BEGIN
namespace signature {

// Each function returns 0, or -1 with an error raised; `self` is passed to each.
struct InvokePolicy {
  void* self;
  int (*raise)(void* self, const char* kind, KpBytes text);
  // The implementation for tensors on that device, and the `self` it is called with.
  int (*resolve)(void* self, KpDLDevice device, KpSafeCall* out_call, void** out_self);
  // A new TENSOR, owned by the caller.
  int (*alloc)(void* self, const KpDLTensor* prototype, KpAny* out);
  // At least `bytes` (> 0) bytes, valid until the call returns.
  int (*workspace)(void* self, KpDLDevice device, uint64_t bytes, void** out_data);
};

using InvokeFunction = int(const uint32_t* program, const char* function, const KpAny* args, int32_t n, KpAny* result,
                           const InvokePolicy& policy);

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_POLICY_H_
