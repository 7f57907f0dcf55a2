// A typed call, whoever makes it: the steps and their order. kp_call and aliases come here by invoke.h, torch's operators directly.
// docs/call.md says where Python, XLA and programs stand.
#ifndef KERNPACK_SIGNATURE_TYPED_CALL_H_
#define KERNPACK_SIGNATURE_TYPED_CALL_H_

#include <kernpack/signature/convert.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct Implementation {
  KpSafeCall call = nullptr;
  void* self = nullptr;
};

// The kernel. It has a place for what it returns, though its results are arguments; a stray one is dropped.
inline int RunKernel(const Implementation& kernel, const KpAny* args, int count) {
  KpAny stray = kp_none();
  const int rc = kernel.call(kernel.self, args, count, &stray);
  kp_any_release(&stray);
  return rc;
}

// `values`: the arguments, then a place per result and one for the workspace. Results that the caller of the function gave
// stand there already (`given`: all or none do); the others, and the workspace, are lent after all that can be refused
// without memory: first what the contract says, then that nothing runs on the device, then memory.
//
// Each function of `caller` returns 0, or -1 with an error raised:
//   int Check(const KpAny* args, const KpAny* results, KpSigFrame* frame);      signature::Check or kp_sig_check
//   int Resolve(KpDLDevice device, Implementation* out);
//   int Lend(const KpSigFrame& frame, KpAny* lent);                             signature::Lend or kp_sig_lend
//   int Enter(KpDLDevice device);   what the device needs around Lend and the kernel; Leave follows if it returned 0
//   void Leave(KpDLDevice device);
// and `raiser()` is where errors of conversions go.
template <class Caller>
int TypedCall(View p, const char* function, Caller& caller, KpAny* values, bool given) {
  const int params = p.NumParams();
  const int results = p.NumResults();
  KpAny* const lent = values + params;
  KpSigFrame frame;
  if (caller.Check(values, given ? lent : nullptr, &frame)) return -1;
  Converted converted;
  if (converted.Convert(frame, function, caller.raiser(), values)) return -1;
  Implementation kernel;
  const KpDLDevice device = CallDevice(frame);
  if (caller.Resolve(device, &kernel)) return -1;
  for (int i = 0; !given && i < results; ++i) lent[i] = kp_none();
  if (caller.Enter(device)) return -1;
  int rc = caller.Lend(frame, lent);
  if (rc == 0) rc = RunKernel(kernel, values, params + results + (p.HasWorkspace() ? 1 : 0));
  caller.Leave(device);
  return rc;
}

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_TYPED_CALL_H_
