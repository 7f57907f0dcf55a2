/* Guards of the fast path for torch tensors: torch's exchange table checks none of this. Most tensors are settled by the
 * fields of torch_layout.h; the rest, and every tensor of a torch whose fields are not known, by torch's own functions, found
 * once and called without CPython's call machinery. */
#include "guard_torch.h"

#include <string.h>

#include "frame.h"
#include "hooks.h"
#include "torch_state.h"
#include "torch_symbols.h"

static getter g_requires_grad;
static void* g_requires_grad_closure;
static PyCFunction g_is_neg, g_is_conj, g_is_grad_enabled, g_increment_version;
static PyObject* g_module; /* torch._C: the self of its functions */
static _Bool (*g_grad_mode)(void); /* nullable: then g_is_grad_enabled is asked */
static PyTypeObject *g_tensor, *g_parameter;
static int g_ready;

static PyCFunction MethodOf(PyTypeObject* type, const char* name) {
  PyMethodDef* method = (PyMethodDef*)PyType_GetSlot(type, Py_tp_methods);
  for (; method != NULL && method->ml_name != NULL; ++method) {
    if (strcmp(method->ml_name, name) == 0 && (method->ml_flags & METH_NOARGS)) return method->ml_meth;
  }
  return NULL;
}

static PyCFunction FunctionOf(PyObject* module, const char* name, int form) {
  PyObject* function = PyObject_GetAttrString(module, name);
  PyCFunction pointer = NULL;
  if (function != NULL && PyCFunction_Check(function) && (PyCFunction_GetFlags(function) & form)) {
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
  if (g_ready) {
    kpy_torch_layout_init();
    return 0;
  }
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
  g_is_grad_enabled = FunctionOf(g_module, "is_grad_enabled", METH_NOARGS);
  g_increment_version = FunctionOf(g_module, "_increment_version", METH_O);
  Py_DECREF(base);
  if (!g_increment_version || !g_requires_grad || !g_is_neg || !g_is_conj || !g_is_grad_enabled ||
      kpy_torch_state_init(g_module) != 0) {
    PyErr_SetString(PyExc_ImportError, "kernpack: this version of torch is not supported; install torch >= 2.10");
    return -1;
  }
  g_grad_mode = (_Bool(*)(void))kpy_torch_symbol("aoti_torch_grad_mode_is_enabled");
  kpy_torch_layout_init();
  g_ready = 1;
  return 0;
}

PyTypeObject* kpy_torch_tensor_type(void) { return g_tensor; }
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

/* Whether the call can become a step of what watches: a function without a signature isn't an operator. */
static int CanBeSeen(const KpyCall* call) {
  return call->function != NULL && call->function->program != NULL && kpy_hook("torch") != NULL;
}

/* The call is watched: by what, and whether that can be done without. */
static int GuardWatched(KpyCall* call, uint64_t keys, int64_t function_modes) {
  call->torch_checked = 1;
  if (PyErr_Occurred()) return KPY_ERROR;
  if (kpy_torch_dispatch_modes() > 0)
    return Divert(call, "a torch dispatch mode is active (FakeTensorMode, TorchDispatchMode); leave it first");
  /* torch.set_default_device is one, and harmless here: only an op can be seen by a function mode. */
  if (function_modes > 0 && kpy_hook("torch") != NULL)
    return Divert(call, "a torch function mode is active; leave it first");
  if (!CanBeSeen(call)) keys &= ~kpy_torch_transform_keys(); /* their own tensors have no memory */
  if (keys != 0)
    return Divert(
        call,
        "torch traces this program (torch.jit.trace, torch.export), and what it cannot see would become a constant");
  return CanBeSeen(call) && kpy_torch_profiled() ? Divert(call, "a profiler records") : KPY_OK;
}

/* What watches operators must see this one: a kernel called behind its back would be missed. */
int kpy_torch_guard_call(KpyCall* call) {
  const uint64_t keys = kpy_torch_added_keys();
  const int64_t function_modes = kpy_torch_function_modes();
  if (KPY_UNLIKELY(keys != 0 || function_modes != 0 || kpy_torch_profiled()))
    return GuardWatched(call, keys, function_modes);
  call->torch_checked = 1;
  return KPY_OK;
}

void kpy_torch_ask_autograd(KpyCall* call) {
  call->torch_grad_mode =
      KPY_LIKELY(g_grad_mode != NULL) ? g_grad_mode() : Truth(g_is_grad_enabled(g_module, NULL)) != 0;
  call->torch_autograd_asked = 1;
}

int kpy_torch_only_gradients(void) {
  KpyCall call;
  if (!g_ready || kpy_torch_added_keys() != 0 || kpy_torch_function_modes() != 0) return 0;
  kpy_torch_ask_autograd(&call);
  return call.torch_grad_mode;
}

int kpy_torch_any_tangent(PyObject* const* objects, Py_ssize_t count) {
  Py_ssize_t i;
  for (i = 0; i < count; ++i) {
    if (g_tensor != NULL && !PyObject_TypeCheck(objects[i], g_tensor)) continue;
    if (g_tensor == NULL || !kpy_torch_layout.known || kpy_torch_may_have_tangent(objects[i])) return 1;
  }
  return 0;
}

/* Gradients and tangents would be lost. */
static int CheckAutograd(KpyCall* call, PyObject* tensor) {
  int rc = kpy_torch_grad_mode(call) ? Truth(g_requires_grad(tensor, g_requires_grad_closure)) : 0;
  if (rc < 0) return KPY_ERROR;
  if (rc > 0)
    return Divert(call, "it requires a gradient while grad mode is on; pass x.detach() or use torch.no_grad()");
  if (!kpy_torch_layout.known || kpy_torch_may_have_tangent(tensor)) {
    PyObject* answer = kpy_helper("torch_has_tangent", "(O)", tensor);
    rc = Truth(answer);
    if (rc < 0) return KPY_ERROR;
    if (rc > 0) return Divert(call, "it carries a forward-mode tangent; pass unpack_dual(x).primal");
  }
  return KPY_OK;
}

/* Lazy bits: conj on complex tensors only, neg on any. */
static int CheckBits(KpyCall* call, PyObject* tensor, const KpDLTensor* view) {
  int bit = 0;
  if (view->dtype.code == KP_DTYPE_COMPLEX) {
    bit = Truth(g_is_conj(tensor, NULL));
    if (bit > 0) return Divert(call, "it is lazily conjugated; pass x.resolve_conj()");
  }
  if (bit == 0) bit = Truth(g_is_neg(tensor, NULL));
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

/* Keys that none of the questions above explains: functionalised tensors and whatever else torch thinks up. */
static int CheckKeys(KpyCall* call, PyObject* tensor, const KpDLTensor* view) {
  const int ours = view->device.device_type == KP_DEVICE_CPU || view->device.device_type == KP_DEVICE_CUDA;
  if (!kpy_torch_layout.known || !ours || kpy_torch_has_plain_keys(tensor)) return KPY_OK;
  return Divert(call, "it isn't an ordinary tensor (it is functionalised or wrapped)");
}

int kpy_torch_guard(KpyCall* call, PyObject* tensor, const KpDLTensor* view) {
  int rc = CheckAutograd(call, tensor);
  if (rc == KPY_OK) rc = CheckBits(call, tensor, view);
  if (rc == KPY_OK && view->data == NULL && HasElements(view)) {
    rc = Divert(call, "it has no memory of its own (a fake, meta or wrapper tensor); pass a real tensor");
  }
  return rc == KPY_OK ? CheckKeys(call, tensor, view) : rc;
}

int kpy_torch_note_write(PyObject* tensor) {
  PyObject *tensors, *answer;
  if (KPY_LIKELY(kpy_torch_bump(tensor))) return 0;
  tensors = PyTuple_Pack(1, tensor);
  answer = tensors == NULL ? NULL : g_increment_version(g_module, tensors);
  Py_XDECREF(tensors);
  Py_XDECREF(answer);
  return answer == NULL ? -1 : 0;
}
