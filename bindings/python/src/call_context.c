/* The rarer calls: on another device, or with an allocator or a stream to tell the host of. */
#include "call_context.h"

/* Long kernels ask now and then; the exception travels like any other. */
static int CheckInterrupts(void) {
  PyGILState_STATE state;
  int rc;
  if (!Py_IsInitialized()) return 0;
  state = PyGILState_Ensure();
  rc = PyErr_CheckSignals() == 0 ? 0 : kpy_raise_from_python();
  PyGILState_Release(state);
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
