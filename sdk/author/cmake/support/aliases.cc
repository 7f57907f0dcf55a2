// Answers calls of a module's aliases. Compiled once a project and linked into each of its modules: see kernpack/alias.h.
#include <kernpack/foreign/serve.h>

extern "C" {

// signature::Invoke, from check.cc.
KP_HIDDEN int kp_signature_invoke(const uint32_t* program, const char* function, const KpAny* args, int32_t n,
                                  KpAny* result, const kernpack::signature::InvokePolicy& policy);

int kp_alias_call_signed(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result) {
  return kernpack::detail::serve_signed(alias, args, n, result, &kp_signature_invoke);
}

int kp_alias_call_untyped(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result) {
  return kernpack::detail::serve_untyped(alias, args, n, result);
}

int kp_alias_workspace(void* self, KpDLDevice device, uint64_t bytes, void** out_data) {
  return kernpack::detail::alias_workspace(self, device, bytes, out_data);
}
}
