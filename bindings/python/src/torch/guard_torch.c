/* Guards of the fast path for torch tensors: torch's exchange table checks none of this. Most tensors are settled by the
 * fields of private_torch/fields.h; the rest, and every tensor of a torch whose fields are not known, by torch's own functions, found
 * once and called without CPython's call machinery. */
#include "guard_torch.h"

#include <string.h>

#include "call/frame.h"
#include "python/hooks.h"
#include "private_torch/watchers.h"
#include "python/threads.h"
#include "way_torch.h"

typedef struct Torch {
  getter requires_grad, dtype;
  void *requires_grad_closure, *dtype_closure;
  PyObject *int8, *uint8; /* torch.int8, torch.uint8 */
  PyTypeObject* device; /* torch.device */
  PyCFunction is_neg, is_conj;
  PyObject *is_grad_enabled, *increment_version; /* torch's public functions */
  _Bool (*grad_mode)(void); /* nullable: then is_grad_enabled is asked */
  PyTypeObject *tensor, *parameter;
} Torch;

static const Torch* g_torch; /* published; NULL: not found. Of threads that look at once, the first one's stays */
static int g_ready; /* published: the hooks were looked for, too */

static inline const Torch* Found(void) { return KPY_PUBLISHED(g_torch); }

static PyCFunction FindMethod(PyTypeObject* type, const char* name) {
  PyMethodDef* method = (PyMethodDef*)PyType_GetSlot(type, Py_tp_methods);
  for (; method != NULL && method->ml_name != NULL; ++method) {
    if (strcmp(method->ml_name, name) == 0 && (method->ml_flags & METH_NOARGS)) return method->ml_meth;
  }
  return NULL;
}

static void FindProperties(PyTypeObject* base, Torch* found) {
  PyGetSetDef* property = (PyGetSetDef*)PyType_GetSlot(base, Py_tp_getset);
  for (; property != NULL && property->name != NULL; ++property) {
    if (strcmp(property->name, "requires_grad") == 0) {
      found->requires_grad = property->get;
      found->requires_grad_closure = property->closure;
    } else if (strcmp(property->name, "dtype") == 0) {
      found->dtype = property->get;
      found->dtype_closure = property->closure;
    }
  }
}

/* torch.<first>.<second>; a new reference. */
static PyObject* Attribute(PyObject* torch, const char* first, const char* second) {
  PyObject* middle = PyObject_GetAttrString(torch, first);
  PyObject* found = middle == NULL ? NULL : PyObject_GetAttrString(middle, second);
  Py_XDECREF(middle);
  return found;
}

/* Everything or an error. What was found stays, since what is kept of a torch is kept until the process ends. */
static int Find(PyObject* torch, Torch* found) {
  PyObject* autograd;
  PyTypeObject* base;
  found->tensor = (PyTypeObject*)PyObject_GetAttrString(torch, "Tensor");
  found->parameter = (PyTypeObject*)Attribute(torch, "nn", "Parameter");
  autograd = PyObject_GetAttrString(torch, "autograd");
  found->increment_version = autograd == NULL ? NULL : Attribute(autograd, "graph", "increment_version");
  Py_XDECREF(autograd);
  found->is_grad_enabled = PyObject_GetAttrString(torch, "is_grad_enabled");
  base = found->tensor == NULL
             ? NULL
             : (PyTypeObject*)PyType_GetSlot(found->tensor, Py_tp_base); /* written in C, as its methods */
  if (base != NULL) {
    FindProperties(base, found);
    found->is_neg = FindMethod(base, "is_neg");
    found->is_conj = FindMethod(base, "is_conj");
  }
  found->int8 = PyObject_GetAttrString(torch, "int8");
  found->uint8 = PyObject_GetAttrString(torch, "uint8");
  found->device = (PyTypeObject*)PyObject_GetAttrString(torch, "device");
  if (!found->parameter || !found->increment_version || !found->is_grad_enabled || !found->requires_grad ||
      !found->is_neg || !found->is_conj || !found->dtype || !found->int8 || !found->uint8 || !found->device) {
    PyErr_SetString(PyExc_ImportError, "kernpack: this version of torch is not supported; install torch >= 2.10");
    return -1;
  }
  found->grad_mode = (_Bool(*)(void))kpy_torch_symbol("aoti_torch_grad_mode_is_enabled");
  return 0;
}

int kpy_torch_init(PyObject* torch) {
  static Torch kept;
  Torch found = {0};
  if (KPY_PUBLISHED(g_ready)) {
    kpy_torch_layout_init();
    return 0;
  }
  if (torch == NULL) {
    PyErr_SetString(PyExc_ImportError, "kernpack: torch is gone, as Python is ending");
    return -1;
  }
  if (Find(torch, &found) != 0) return -1;
  kpy_lock();
  if (g_torch == NULL) {
    kept = found;
    KPY_PUBLISH(g_torch, &kept);
  }
  kpy_unlock();
  kpy_torch_watchers_init();
  kpy_torch_layout_init();
  KPY_PUBLISH(g_ready, 1);
  return 0;
}

PyTypeObject* kpy_torch_tensor_type(void) { return Found() == NULL ? NULL : Found()->tensor; }
int kpy_torch_is_plain(PyTypeObject* type) { return type == Found()->tensor || type == Found()->parameter; }
int kpy_torch_is_own_value(PyObject* object) {
  return Py_TYPE(object) == Py_TYPE(Found()->int8) || Py_TYPE(object) == Found()->device;
}

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

static const char kTraced[] =
    "torch traces this program (torch.jit.trace, torch.export), and what it cannot see would become a constant";
static const char kMode[] = "a torch dispatch mode is active (FakeTensorMode, TorchDispatchMode); leave it first";

static int Divert(KpyCall* call, const char* why) { return kpy_divert(call, "torch", why); }

/* True if a trace or mode can record the call: a function without a signature isn't an operator. */
static int CanBeSeen(const KpyCall* call) {
  return call->function != NULL && call->function->program != NULL &&
         (KPY_PUBLISHED(call->function->torch_call) != NULL || kpy_has_hook("torch"));
}

/* The hooks can't tell who watches. An operator is seen by all of them; what isn't one is refused where torch records a program, or where
   a mode is active. */
static int GuardUnknown(KpyCall* call) {
  int traced, moded;
  if (CanBeSeen(call))
    return Divert(call, "without the hooks, this call must go through torch's dispatcher (docs/private.md)");
  traced = Truth(kpy_helper("torch_is_traced", NULL));
  if (traced < 0) return KPY_ERROR;
  if (traced) return Divert(call, kTraced);
  moded = Truth(kpy_helper("torch_has_mode", NULL));
  if (moded < 0) return KPY_ERROR;
  return moded ? Divert(call, kMode) : KPY_OK;
}

/* The call is watched: by what, and whether that can be done without. */
static int GuardWatched(KpyCall* call, const KpyTorchWatchers* watchers) {
  uint64_t keys = watchers->keys;
  if (keys & kpy_torch_mode_keys()) return Divert(call, kMode);
  /* torch.set_default_device is one, and harmless here: only an op can be seen by a function mode. */
  if (watchers->function_modes > 0 && kpy_has_hook("torch"))
    return Divert(call, "a torch function mode is active; leave it first");
  if (!CanBeSeen(call)) keys &= ~kpy_torch_transform_keys(); /* their own tensors have no memory */
  if (keys != 0) return Divert(call, kTraced);
  return CanBeSeen(call) && watchers->profiled ? Divert(call, "a profiler is recording") : KPY_OK;
}

/* Everything that watches operators must see this call: it would miss a kernel that is called directly. */
int kpy_torch_guard_call(KpyCall* call) {
  KpyTorchWatchers watchers;
  call->torch_checked = 1;
  if (KPY_LIKELY(!kpy_torch_watchers(&watchers))) return KPY_OK;
  return KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_WATCHERS]) ? GuardWatched(call, &watchers) : GuardUnknown(call);
}

int kpy_torch_records(void) {
  return KPY_LIKELY(Found()->grad_mode != NULL) ? Found()->grad_mode()
                                                : Truth(PyObject_CallNoArgs(Found()->is_grad_enabled)) != 0;
}

void kpy_torch_ask_autograd(KpyCall* call) {
  call->torch_grad_mode = (uint8_t)kpy_torch_records();
  call->torch_autograd_asked = 1;
}

int kpy_torch_requires_grad(PyObject* tensor) {
  const int truth = Truth(Found()->requires_grad(tensor, Found()->requires_grad_closure));
  if (truth < 0) PyErr_Clear(); /* taken for one that does */
  return truth != 0;
}

int kpy_torch_is_watched(void) {
  KpyTorchWatchers watchers;
  if (!KPY_PUBLISHED(g_ready) || !KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_WATCHERS])) return 1;
  return kpy_torch_watchers(&watchers) && (watchers.keys != 0 || watchers.function_modes != 0);
}

int kpy_torch_any_tangent(PyObject* const* objects, Py_ssize_t count) {
  PyTypeObject* tensor = kpy_torch_tensor_type();
  Py_ssize_t i;
  /* One question for all of them. */
  if (!kpy_torch_fields_known() && kpy_torch_levels_are_told() && kpy_torch_no_level_open(NULL)) return 0;
  for (i = 0; i < count; ++i) {
    if (tensor != NULL && !PyObject_TypeCheck(objects[i], tensor)) continue;
    if (tensor == NULL || !kpy_torch_fields_known() || kpy_torch_may_have_tangent(objects[i])) return 1;
  }
  return 0;
}

/* Gradients and tangents would be lost. */
static int CheckAutograd(KpyCall* call, PyObject* tensor) {
  int rc = kpy_torch_grad_mode(call) ? Truth(Found()->requires_grad(tensor, Found()->requires_grad_closure)) : 0;
  if (rc < 0) return KPY_ERROR;
  if (rc > 0)
    return Divert(call, "it requires a gradient while grad mode is on; pass x.detach() or use torch.no_grad()");
  if (call->torch_no_tangents) return KPY_OK;
  /* Without hooks, operators by name don't come here. */
  if (!KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_WATCHERS])) {
    call->torch_no_tangents = (uint8_t)kpy_torch_no_level_open(tensor);
    if (call->torch_no_tangents) return KPY_OK;
  }
  if (!kpy_torch_fields_known() || kpy_torch_may_have_tangent(tensor)) {
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
    bit = Truth(Found()->is_conj(tensor, NULL));
    if (bit > 0) return Divert(call, "it is lazily conjugated; pass x.resolve_conj()");
  }
  if (bit == 0) bit = Truth(Found()->is_neg(tensor, NULL));
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
  if (!kpy_torch_fields_known() || !ours || kpy_torch_has_plain_keys(tensor)) return KPY_OK;
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

int kpy_torch_check_dtype(KpyCall* call, PyObject* tensor, const KpDLTensor* view) {
  PyObject* dtype = Found()->dtype(tensor, Found()->dtype_closure);
  int known;
  if (dtype == NULL) return KPY_ERROR;
  known = view->dtype.lanes == 1 && (dtype == Found()->int8 || dtype == Found()->uint8);
  if (!known) {
    PyErr_Format(PyExc_TypeError,
                 "%s: %s: expected a dtype that contracts can name, got %S: pass its bytes, as by x.view(torch.uint8)",
                 kpy_who(call), kpy_what(call), dtype);
  }
  Py_DECREF(dtype);
  return known ? KPY_OK : KPY_ERROR;
}

int kpy_torch_note_write(PyObject* tensor) {
  PyObject* answer;
  if (KPY_LIKELY(kpy_torch_bump(tensor))) return 0;
  answer = PyObject_CallFunctionObjArgs(Found()->increment_version, tensor, NULL);
  Py_XDECREF(answer);
  return answer == NULL ? -1 : 0;
}
