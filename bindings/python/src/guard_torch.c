/* Guards of the fast path for torch tensors. torch's exchange table checks none of this. Each guard is a C function of
 * torch's own Python layer, found once and called without CPython's call machinery. */
#include "guard_torch.h"

#include <string.h>

static getter g_requires_grad;
static void* g_requires_grad_closure;
static PyCFunction g_is_neg, g_is_conj, g_is_grad_enabled, g_dispatch_modes, g_function_modes;
static PyObject* g_module; /* torch._C: the self of its functions */
static PyTypeObject *g_tensor, *g_parameter;
static int g_ready;

static PyCFunction MethodOf(PyTypeObject* type, const char* name) {
  PyMethodDef* method = (PyMethodDef*)PyType_GetSlot(type, Py_tp_methods);
  for (; method != NULL && method->ml_name != NULL; ++method) {
    if (strcmp(method->ml_name, name) == 0 && (method->ml_flags & METH_NOARGS)) return method->ml_meth;
  }
  return NULL;
}

static PyCFunction FunctionOf(PyObject* module, const char* name) {
  PyObject* function = PyObject_GetAttrString(module, name);
  PyCFunction pointer = NULL;
  if (function != NULL && PyCFunction_Check(function) && (PyCFunction_GetFlags(function) & METH_NOARGS)) {
    pointer = PyCFunction_GetFunction(function);
  }
  PyErr_Clear();
  Py_XDECREF(function); /* the module keeps it */
  return pointer;
}

static void FindRequiresGrad(PyTypeObject* base) {
  PyGetSetDef* property = (PyGetSetDef*)PyType_GetSlot(base, Py_tp_getset);
  for (; property != NULL && property->name != NULL; ++property) {
    if (strcmp(property->name, "requires_grad") != 0) continue;
    g_requires_grad = property->get;
    g_requires_grad_closure = property->closure;
  }
}

int kpy_torch_init(PyObject* torch) {
  PyObject *base, *nn;
  if (g_ready) return 0;
  g_module = PyObject_GetAttrString(torch, "_C");
  g_tensor = (PyTypeObject*)PyObject_GetAttrString(torch, "Tensor");
  nn = PyObject_GetAttrString(torch, "nn");
  g_parameter = nn == NULL ? NULL : (PyTypeObject*)PyObject_GetAttrString(nn, "Parameter");
  Py_XDECREF(nn);
  base = g_module == NULL ? NULL : PyObject_GetAttrString(g_module, "TensorBase");
  if (g_tensor == NULL || g_parameter == NULL || base == NULL) return -1;
  FindRequiresGrad((PyTypeObject*)base);
  g_is_neg = MethodOf((PyTypeObject*)base, "is_neg");
  g_is_conj = MethodOf((PyTypeObject*)base, "is_conj");
  g_is_grad_enabled = FunctionOf(g_module, "is_grad_enabled");
  g_dispatch_modes = FunctionOf(g_module, "_len_torch_dispatch_stack");
  g_function_modes = FunctionOf(g_module, "_len_torch_function_stack");
  Py_DECREF(base);
  if (!g_requires_grad || !g_is_neg || !g_is_conj || !g_is_grad_enabled || !g_dispatch_modes || !g_function_modes) {
    PyErr_SetString(PyExc_ImportError, "kernpack: this torch is not supported; it needs torch >= 2.10");
    return -1;
  }
  g_ready = 1;
  return 0;
}

int kpy_torch_is_plain(PyTypeObject* type) { return type == g_tensor || type == g_parameter; }

/* The truth of a bool or int that one of the functions gave; -1 on error. */
static int Truth(PyObject* answer) {
  int truth;
  if (answer == Py_False) {
    Py_DECREF(answer);
    return 0;
  }
  if (answer == NULL) return -1;
  truth = PyObject_IsTrue(answer);
  Py_DECREF(answer);
  return truth;
}

static int Divert(KpyCall* call, const char* why) { return kpy_divert(call, "torch", why); }

/* Modes see every operator; a kernel called behind their back would be missed. Once a call. */
static int CheckModes(KpyCall* call) {
  const int dispatch = Truth(g_dispatch_modes(g_module, NULL));
  const int function = dispatch == 0 ? Truth(g_function_modes(g_module, NULL)) : 0;
  if (dispatch < 0 || function < 0) return KPY_ERROR;
  call->torch_checked = 1;
  if (dispatch)
    return Divert(call, "a torch dispatch mode is active (FakeTensorMode, TorchDispatchMode); leave it first");
  /* torch.set_default_device is one, and harmless here: only an op can be seen by a function mode. */
  if (function && kpy_hook("torch") != NULL) return Divert(call, "a torch function mode is active; leave it first");
  return KPY_OK;
}

static int IsContiguous(const KpDLTensor* view) {
  int64_t expected = 1;
  int32_t i;
  if (view->strides == NULL) return 1;
  for (i = view->ndim; i-- > 0;) {
    if (view->shape[i] == 1) continue;
    if (view->strides[i] != expected) return 0;
    expected *= view->shape[i];
  }
  return expected != 1; /* one element: its strides tell nothing */
}

/* Lazy bits: conj only on complex tensors, neg on real ones only as the imaginary part of such (stride 2). */
static int CheckBits(KpyCall* call, PyObject* tensor, const KpDLTensor* view) {
  int bit = 0;
  if (view->dtype.code == KP_DTYPE_COMPLEX) {
    bit = Truth(g_is_conj(tensor, NULL));
    if (bit > 0) return Divert(call, "it is lazily conjugated; pass x.resolve_conj()");
    if (bit == 0) bit = Truth(g_is_neg(tensor, NULL));
  } else if (view->dtype.code == KP_DTYPE_FLOAT && !IsContiguous(view)) {
    bit = Truth(g_is_neg(tensor, NULL));
  }
  if (bit < 0) return KPY_ERROR;
  return bit ? Divert(call, "it is lazily negated; pass x.resolve_neg()") : KPY_OK;
}

static int HasElements(const KpDLTensor* view) {
  int32_t i;
  for (i = 0; i < view->ndim; ++i) {
    if (view->shape[i] == 0) return 0;
  }
  return 1;
}

int kpy_torch_guard(KpyCall* call, PyObject* tensor, const KpDLTensor* view) {
  PyObject* requires_grad;
  int rc;
  if (!call->torch_checked && (rc = CheckModes(call)) != KPY_OK) return rc;
  requires_grad = g_requires_grad(tensor, g_requires_grad_closure);
  if (KPY_UNLIKELY(requires_grad != Py_False)) {
    rc = Truth(requires_grad);
    if (rc > 0) rc = Truth(g_is_grad_enabled(g_module, NULL));
    if (rc < 0) return KPY_ERROR;
    if (rc > 0)
      return Divert(call, "it requires a gradient while grad mode is on; pass x.detach() or use torch.no_grad()");
  } else {
    Py_DECREF(requires_grad);
  }
  if (KPY_UNLIKELY(view->data == NULL) && HasElements(view)) {
    return Divert(call, "it has no memory of its own (a fake, meta or wrapper tensor); pass a real tensor");
  }
  return CheckBits(call, tensor, view);
}
