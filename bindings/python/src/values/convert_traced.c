/* Symbols of a program that is being traced. They stand for tensors and numbers that are not there yet, so the call becomes a step of
 * the program: by the hook of kernpack_compiler.program where their class has `__kernpack_traced__`, by torch's where it is torch.SymInt
 * and its like, or torch.fx's Proxy. */
#include "call/frame.h"
#include "python/hooks.h"

static int ConvertTraced(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)object, (void)out;
  return kpy_divert(call, "program", "a symbolic tensor, of a program that is being traced, has no memory");
}

int kpy_resolve_traced(PyObject* object, KpySlot* out) {
  if (!PyObject_HasAttrString((PyObject*)Py_TYPE(object), "__kernpack_traced__")) return 0;
  out->convert = ConvertTraced;
  return 1;
}

static int ConvertTorchSymbol(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)object, (void)out;
  return kpy_divert(call, "torch", "a symbol of a program that torch traces has no value yet");
}

int kpy_resolve_torch_symbol(PyObject* object, KpySlot* out) {
  PyObject* answer;
  /* Theirs are classes written in Python; numbers, text and NumPy's arrays are not. */
  if (!(PyType_GetFlags(Py_TYPE(object)) & Py_TPFLAGS_HEAPTYPE) || !kpy_is_loaded("torch")) return 0;
  answer = kpy_helper("torch_is_symbol", "(O)", (PyObject*)Py_TYPE(object));
  if (answer == NULL) return -1;
  Py_DECREF(answer);
  if (answer != Py_True) return 0;
  out->convert = ConvertTorchSymbol;
  return 1;
}
