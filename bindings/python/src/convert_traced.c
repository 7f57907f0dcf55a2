/* Symbols of a program that is being traced: their class has `__kernpack_traced__`. They stand for tensors and have no memory, so
 * the call becomes a step of the program, which kernpack_compiler.program registers a hook for. */
#include "core.h"

static int ConvertTraced(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)object, (void)out;
  return kpy_divert(call, "program", "a symbolic tensor, of a program that is being traced, has no memory");
}

int kpy_resolve_traced(PyObject* object, KpySlot* out) {
  if (!PyObject_HasAttrString((PyObject*)Py_TYPE(object), "__kernpack_traced__")) return 0;
  out->convert = ConvertTraced;
  return 1;
}
