/* Tells the host what this call brings along (stream, allocator, interrupts), and runs the kernel. */
#include "call_context.h"

/* Long kernels ask now and then; the exception travels like any other. */
static int CheckInterrupts(void) {
  PyGILState_STATE state = PyGILState_Ensure();
  int rc = PyErr_CheckSignals() == 0 ? 0 : kpy_raise_from_python();
  PyGILState_Release(state);
  return rc;
}

static void FillContext(const KpyCall* call, KpCallContext* context) {
  const KpCallContext zero = {0};
  *context = zero;
  context->check_interrupts = CheckInterrupts;
  if (call->family != NULL && call->family->tensor_alloc != NULL) {
    context->tensor_alloc = call->family->tensor_alloc;
    context->tensor_alloc_context = (void*)(uintptr_t)call->family;
  }
  if (call->has_stream) {
    context->device = call->device;
    context->stream = call->stream;
  }
}

static int RunInContext(const KpyCall* call, KpSafeCall function, void* self, const KpAny* values, int32_t count,
                        KpAny* result) {
  KpCallContext context;
  int rc;
  FillContext(call, &context);
  kp_call_enter(&context);
  if (call->function->quick) {
    rc = function(self, values, count, result);
  } else {
    PyThreadState* thread = PyEval_SaveThread();
    rc = function(self, values, count, result);
    PyEval_RestoreThread(thread);
  }
  kp_call_leave(&context);
  return rc;
}

int kpy_invoke(KpyCall* call, KpDLDevice device, const KpAny* values, int32_t count, KpAny* result) {
  KpyFunction* f = call->function;
  KpSafeCall function = f->cpu_call;
  void* self = f->cpu_self;
  int rc;
  if (KPY_UNLIKELY(function == NULL || device.device_type > KP_DEVICE_CPU)) {
    if (device.device_type == 0) device.device_type = KP_DEVICE_CPU;
    if (kp_function_resolve(f->loaded, device, &function, &self) != 0) {
      (void)kpy_raise_host(f->name, -1);
      return -1;
    }
  }
  rc = RunInContext(call, function, self, values, count, result);
  if (KPY_LIKELY(rc == 0)) return 0;
  (void)kpy_raise_host(f->name, rc);
  return -1;
}
