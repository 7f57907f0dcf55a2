/* The rarer calls: on another device, or with an allocator or a stream to tell the host of. */
#include "call_context.h"

#include "python/errors.h"
#include "frame.h"
#include "python/threads.h"

/* The exception travels like any other. */
static void CheckSignals(void* rc) {
  if (PyErr_CheckSignals() != 0) *(int*)rc = kpy_raise_from_python();
}

/* Long kernels ask now and then. */
static int CheckInterrupts(void) {
  int rc = 0;
  (void)kpy_with_python(CheckSignals, &rc);
  return rc;
}

void kpy_watch_interrupts(void) { kp_set_interrupt_check(CheckInterrupts); }

int kpy_resolve_device(KpyFunction* f, KpDLDevice device, KpSafeCall* function, void** self) {
  if (device.device_type == 0) device.device_type = KP_DEVICE_CPU;
  if (kp_function_resolve(f->loaded, device, function, self) == 0) return 0;
  (void)kpy_raise_host(f->name, -1);
  return -1;
}

int kpy_run_in_context(const KpyCall* call, KpSafeCall function, void* self, const KpAny* values, int32_t count,
                       KpAny* result) {
  KpCallContext context = {0};
  int rc;
  if (call->family != NULL && call->family->tensor_alloc != NULL) {
    context.tensor_alloc = call->family->tensor_alloc;
    context.tensor_alloc_context = (void*)(uintptr_t)call->family;
  }
  if (call->has_stream) {
    context.device = call->device;
    context.stream = call->stream;
  }
  kp_call_enter(&context);
  rc = kpy_run(call->function, function, self, values, count, result);
  kp_call_leave(&context);
  return rc;
}
