// The state of a function's alias, kept between calls.
#ifndef KERNPACK_FOREIGN_ALIAS_H_
#define KERNPACK_FOREIGN_ALIAS_H_

#include <kernpack/config.h>

extern "C" {

// Constant-initialised but for `on_cpu`.
struct KpAlias {
  const char* name;
  const uint32_t* program;  // of the signature, or NULL
  // See signature::InvokePolicy; NULL without a `with workspace` clause.
  int (*workspace)(void* self, KpDLDevice device, uint64_t bytes, void** out_data);
  const KpFunctionDef* on_cpu;  // the variant that the first call on the CPU chose
};

// Defined by the library that kernpack_add_module() links (sdk/author/cmake/support).
KP_HIDDEN int kp_alias_call_signed(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result);
KP_HIDDEN int kp_alias_call_untyped(KpAlias* alias, const KpAny* args, int32_t n, KpAny* result);
KP_HIDDEN int kp_alias_workspace(void* self, KpDLDevice device, uint64_t bytes, void** out_data);
}

#endif  // KERNPACK_FOREIGN_ALIAS_H_
