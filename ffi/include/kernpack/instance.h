// The context of a module's code: the instance for one host, and the function that this thread is in.
#ifndef KERNPACK_INSTANCE_H_
#define KERNPACK_INSTANCE_H_

#include <kernpack/config.h>

extern "C" {
// The call that runs on this thread: one per module, never shared between modules.
struct KpCurrentCall {
  KpInstance* instance;  // NULL outside a call
  const char* function;  // what errors call it
};
KP_HIDDEN inline thread_local KpCurrentCall KP_PER_MODULE(kp_current_call) = {nullptr, nullptr};
}

KP_NAMESPACE_BEGIN
namespace detail {

struct ForeignState;

// The target of a KpInstance: the state of a module under one host.
struct Instance {
  const KpHost* host;
  KpBytes module_name;
  ForeignState* foreign;         // of the alias's instance (foreign.h); NULL under a Kernpack host
  const KpBacktrace* backtrace;  // NULL: stacks of errors aren't requested

  static Instance* from(void* self) { return static_cast<Instance*>(self); }
};

inline Instance* current_or_null() { return reinterpret_cast<Instance*>(KP_PER_MODULE(kp_current_call).instance); }

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_INSTANCE_H_
