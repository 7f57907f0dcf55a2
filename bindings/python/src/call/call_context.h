/* The last step of a call: the context, the GIL, the function pointer. */
#ifndef KERNPACK_PYTHON_CALL_CALL_CONTEXT_H_
#define KERNPACK_PYTHON_CALL_CALL_CONTEXT_H_

#include "python/errors.h"
#include "frame.h"
#include "python/threads.h"

/* Runs `function` in a context that tells the host of the call's stream and allocator. Returns what it returns. */
KPY_HIDDEN int kpy_run_in_context(const KpyCall* call, KpSafeCall function, void* self, const KpAny* values,
                                  int32_t count, KpAny* result);
/* The implementation for a device that is not the CPU, or an error when there is none. */
KPY_HIDDEN int kpy_resolve_device(KpyFunction* f, KpDLDevice device, KpSafeCall* function, void** self);
/* Ctrl-C reaches kernels that ask for it. */
KPY_HIDDEN void kpy_watch_interrupts(void);

/* Runs a function pointer, without the GIL unless the function is quick. */
static inline int kpy_run(const KpyFunction* f, KpSafeCall function, void* self, const KpAny* values, int32_t count,
                          KpAny* result) {
  PyThreadState* thread;
  int rc;
  if (f->quick) return function(self, values, count, result);
  thread = PyEval_SaveThread();
  rc = function(self, values, count, result);
  PyEval_RestoreThread(thread);
  return rc;
}

/* Whom a call on `device` (device_type 0: CPU) goes to where that was chosen before; NULL: the host says. */
static inline const KpyTarget* kpy_target(const KpyFunction* f, KpDLDevice device) {
  return KPY_LIKELY(device.device_type <= KP_DEVICE_CPU) ? KPY_PUBLISHED(f->on_cpu) : NULL;
}

/* Runs the variant for `device` (device_type 0: CPU). 0, or -1 with a Python exception set. `allocates`: the kernel may ask
 * for tensors of the caller's framework even though all are on the CPU. */
static inline int kpy_invoke(KpyCall* call, KpDLDevice device, int allocates, const KpAny* values, int32_t count,
                             KpAny* result) {
  KpyFunction* f = call->function;
  const KpyTarget* target = kpy_target(f, device);
  KpSafeCall function;
  void* self;
  int rc;
  if (KPY_LIKELY(target != NULL)) {
    function = target->call;
    self = target->self;
  } else if (kpy_resolve_device(f, device, &function, &self) != 0) {
    return -1;
  }
  if (call->has_stream || (allocates && call->family != NULL && call->family->tensor_alloc != NULL)) {
    rc = kpy_run_in_context(call, function, self, values, count, result);
  } else {
    rc = kpy_run(f, function, self, values, count, result);
  }
  if (KPY_LIKELY(rc == 0)) return 0;
  (void)kpy_raise_host(f->name, rc);
  return -1;
}

#endif /* KERNPACK_PYTHON_CALL_CALL_CONTEXT_H_ */
