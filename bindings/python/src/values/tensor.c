/* kernpack.Tensor: the host's own tensor as a Python object. */
#include "tensor.h"

#include <kernpack/host/device.h>

#include "classes.h"
#include "python/errors.h"
#include "call/frame.h"
#include "python/hooks.h"
#include "python/threads.h"

enum { kExpired = -1 };

static PyTypeObject* g_type;
static const KpyFamily g_family;

const KpyFamily* kpy_own_family(void) { return &g_family; }

/* Takes over the reference. */
static PyObject* NewFromOwned(KpAny* owned) {
  KpyTensor* self = (KpyTensor*)PyType_GenericAlloc(g_type, 0);
  if (self == NULL) {
    kp_any_release(owned);
    return NULL;
  }
  self->tensor = (KpTensorObject*)(void*)owned->v.v_obj;
  self->exports = 0;
  self->borrowed = 0;
  self->read_only = (int)(kp_tensor_flags(owned->v.v_obj) & 1);
  return (PyObject*)self;
}

PyObject* kpy_tensor_from_object(KpObject* tensor) {
  KpAny owned;
  owned.type_index = KP_TYPE_TENSOR;
  owned.small_len = 0;
  owned.v.v_obj = tensor;
  kp_retain(tensor);
  return NewFromOwned(&owned);
}

PyObject* kpy_tensor_new_borrowed(const KpDLTensor* view) {
  KpAny owned;
  PyObject* self;
  if (kp_tensor_wrap(view, NULL, NULL, &owned) != 0) return kpy_raise_host("kernpack.Tensor", -1);
  self = NewFromOwned(&owned);
  if (self != NULL) ((KpyTensor*)self)->borrowed = 1;
  return self;
}

int kpy_tensor_expire(PyObject* tensor) {
  KpyTensor* self = (KpyTensor*)tensor;
  Py_ssize_t none = 0;
  if (Py_TYPE(tensor) != g_type || !self->borrowed) return 0;
  if (__atomic_compare_exchange_n(&self->exports, &none, kExpired, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return 0;
  PyErr_SetString(PyExc_BufferError,
                  "a callback kept a view of a tensor that was lent to it for the call; keep a copy");
  return -1;
}

static int IsExpired(const KpyTensor* tensor) { return KPY_PUBLISHED(tensor->exports) == kExpired; }

static void RaiseExpired(void) {
  PyErr_SetString(PyExc_ValueError, "this tensor was lent to a callback that has returned; keep a copy instead");
}

const KpDLTensor* kpy_tensor_view(PyObject* self) {
  KpyTensor* tensor = (KpyTensor*)self;
  if (KPY_LIKELY(!IsExpired(tensor))) return &tensor->tensor->tensor;
  RaiseExpired();
  return NULL;
}

int kpy_tensor_lend(KpyTensor* tensor) {
  Py_ssize_t exports = KPY_PUBLISHED(tensor->exports);
  while (exports != kExpired) {
    if (__atomic_compare_exchange_n(&tensor->exports, &exports, exports + 1, 1, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return 0;
  }
  RaiseExpired();
  return -1;
}

/* The consumer of a lent tensor is done with it. On any thread. */
static void EndLoanWithPython(void* lent) {
  kpy_tensor_return((KpyTensor*)lent);
  Py_DECREF((PyObject*)lent);
}
static void EndLoan(void* lent) { (void)kpy_with_python(EndLoanWithPython, lent); }

int kpy_tensor_export(PyObject* tensor, KpAny* out) {
  KpyTensor* self = (KpyTensor*)tensor;
  KpObject* object = kpy_tensor_object(tensor);
  if (object == NULL) return -1;
  if (self->borrowed) {
    if (kpy_tensor_lend(self) != 0) return -1;
    if (kp_tensor_wrap(&self->tensor->tensor, tensor, EndLoan, out) != 0) {
      kpy_tensor_return(self);
      (void)kpy_raise_host("kernpack.Tensor", -1);
      return -1;
    }
    Py_INCREF(tensor);
    return 0;
  }
  out->type_index = KP_TYPE_TENSOR;
  out->small_len = 0;
  out->v.v_obj = object;
  kp_retain(object);
  return 0;
}

int kpy_tensor_keep(PyObject* tensor, KpAny* out) {
  KpObject* object = kpy_tensor_object(tensor);
  if (object == NULL) return -1;
  *out = kp_none();
  out->type_index = KP_TYPE_TENSOR;
  out->v.v_obj = object;
  kp_retain(object);
  return 0;
}

int kpy_is_tensor(PyObject* object) { return Py_TYPE(object) == g_type; }

KpObject* kpy_tensor_object(PyObject* tensor) {
  if (Py_TYPE(tensor) != g_type) {
    PyErr_SetString(PyExc_TypeError, "expected a kernpack.Tensor");
    return NULL;
  }
  return kpy_tensor_view(tensor) == NULL ? NULL : &((KpyTensor*)tensor)->tensor->header;
}

/* ---- as an argument: shape and strides of a TENSOR never change, so the view is the tensor's own ---- */

static void EndLoanToCall(void* tensor) { kpy_tensor_return((KpyTensor*)tensor); }

/* The callback may return, on another thread, before the call does. */
static int LendToCall(KpyCall* call, KpyTensor* tensor) {
  if (call->own_tensors) {
    PyErr_SetString(PyExc_ValueError, "a tensor lent to a callback cannot be kept; pass a copy");
    return -1;
  }
  return kpy_tensor_lend(tensor) != 0 ? -1 : kpy_call_keep(call, tensor, EndLoanToCall);
}

static int ConvertTensor(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  KpyTensor* self = (KpyTensor*)object;
  if (KPY_UNLIKELY(kpy_tensor_view(object) == NULL)) return KPY_ERROR;
  if (KPY_UNLIKELY(self->read_only) && (call->flags & KP_PARAM_MUTATED)) return kpy_refuse_read_only(call);
  if (call->family == NULL) call->family = slot->family;
  if (KPY_UNLIKELY(self->borrowed) && LendToCall(call, self) != 0) return KPY_ERROR;
  out->small_len = 0;
  if (call->own_tensors) {
    out->type_index = KP_TYPE_TENSOR;
    out->v.v_obj = &self->tensor->header;
    kp_retain(out->v.v_obj);
    return kpy_call_keep_any(call, out);
  }
  out->type_index = KP_TYPE_DLTENSOR_PTR;
  out->v.v_tensor = &self->tensor->tensor;
  return KPY_OK;
}

int kpy_resolve_tensor(PyObject* object, KpySlot* out) {
  if (Py_TYPE(object) != g_type) return 0;
  out->convert = ConvertTensor;
  out->family = &g_family;
  return 1;
}

/* ---- as a result ---- */

static int Allocate(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out) {
  const KpBytes scope = {NULL, 0};
  KpAny owned;
  PyObject* tensor;
  (void)family;
  if (kp_tensor_alloc(prototype, scope, &owned) != 0) {
    (void)kpy_raise_host(call->function->name, -1);
    return -1;
  }
  tensor = NewFromOwned(&owned);
  if (tensor == NULL) return -1;
  call->results[index] = tensor;
  out->type_index = KP_TYPE_DLTENSOR_PTR;
  out->small_len = 0;
  out->v.v_tensor = &((KpyTensor*)tensor)->tensor->tensor;
  return 0;
}

static PyObject* Finish(KpyCall* call, const KpyFamily* family, int32_t index) {
  (void)family;
  return (PyObject*)call->results[index];
}

static void Discard(KpyCall* call, int32_t index) { Py_DECREF((PyObject*)call->results[index]); }

static PyObject* Wrap(const KpyFamily* family, KpObject* tensor) {
  (void)family;
  return kpy_tensor_from_object(tensor);
}

static const KpyFamily g_family = {"kernpack", Allocate, Finish, Discard, Wrap, NULL, NULL, NULL};

/* ---- attributes ---- */

static void Dealloc(PyObject* object) {
  KpyTensor* self = (KpyTensor*)object;
  PyTypeObject* type = Py_TYPE(object);
  if (self->tensor != NULL) kp_release(&self->tensor->header);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF((PyObject*)type);
}

static PyObject* MakeTuple(const int64_t* items, int32_t count) {
  PyObject* tuple = PyTuple_New(count);
  int32_t i;
  for (i = 0; tuple != NULL && i < count; ++i) PyTuple_SetItem(tuple, i, PyLong_FromLongLong(items[i]));
  return tuple;
}

static PyObject* GetShape(PyObject* self, void* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  (void)unused;
  return view == NULL ? NULL : MakeTuple(view->shape, view->ndim);
}

static PyObject* GetStrides(PyObject* self, void* unused) { /* elements */
  const KpDLTensor* view = kpy_tensor_view(self);
  int64_t strides[KP_MAX_NDIM];
  (void)unused;
  if (view == NULL) return NULL;
  if (view->strides != NULL) return MakeTuple(view->strides, view->ndim);
  kp_row_major_strides(view->ndim, view->shape, strides);
  return MakeTuple(strides, view->ndim);
}

static PyObject* GetDType(PyObject* self, void* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  (void)unused;
  return view == NULL ? NULL : kpy_dtype_new(view->dtype);
}

static PyObject* GetDevice(PyObject* self, void* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  (void)unused;
  return view == NULL ? NULL : kpy_device_new(view->device);
}

static PyObject* GetDim(PyObject* self, void* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  (void)unused;
  return view == NULL ? NULL : PyLong_FromLong(view->ndim);
}

static PyObject* GetNBytes(PyObject* self, void* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  int64_t bits;
  (void)unused;
  if (view == NULL) return NULL;
  bits = (int64_t)view->dtype.bits * view->dtype.lanes;
  for (int32_t i = 0; i < view->ndim; ++i) bits *= view->shape[i];
  return PyLong_FromLongLong((bits + 7) / 8);
}

static PyObject* GetReadOnly(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(((KpyTensor*)self)->read_only);
}

static PyObject* GetDataPtr(PyObject* self, void* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  (void)unused;
  return view == NULL ? NULL : PyLong_FromVoidPtr((char*)view->data + view->byte_offset);
}

static PyObject* Numpy(PyObject* self, PyObject* unused) {
  (void)unused;
  if (kpy_tensor_view(self) == NULL) return NULL;
  return kpy_helper("numpy_from_tensor", "(O)", self);
}

static PyObject* Repr(PyObject* self) {
  if (IsExpired((KpyTensor*)self)) return PyUnicode_FromString("<kernpack.Tensor, expired>");
  return kpy_helper("tensor_repr", "(O)", self);
}

static Py_ssize_t Length(PyObject* self) {
  const KpDLTensor* view = kpy_tensor_view(self);
  if (view == NULL) return -1;
  if (view->ndim == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a tensor of rank 0");
    return -1;
  }
  return (Py_ssize_t)view->shape[0];
}

static PyObject* To(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"device", "scope", NULL};
  PyObject *device, *scope = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:to", names, &device, &scope)) return NULL;
  return kpy_helper("tensor_to", "(OOO)", self, device, scope);
}

static PyObject* CopyFrom(PyObject* self, PyObject* source) { return kpy_helper("tensor_copy", "(OO)", self, source); }

static PyMethodDef kMethods[] = {
    {"to", (PyCFunction)(void (*)(void))To, METH_VARARGS | METH_KEYWORDS,
     "to($self, device, scope=None)\n--\n\nThis tensor on a device: itself if it is there already, else a compact "
     "copy."},
    {"copy_", CopyFrom, METH_O,
     "copy_($self, source, /)\n--\n\nCopies the elements of a tensor or array of the same shape and dtype, from any "
     "device. Returns self."},
    {"__dlpack__", (PyCFunction)(void (*)(void))kpy_tensor_dlpack, METH_VARARGS | METH_KEYWORDS,
     "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
     "A DLPack capsule that shares this tensor's memory."},
    {"__dlpack_device__", kpy_tensor_dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\n(device type, device id)"},
    {"numpy", Numpy, METH_NOARGS,
     "numpy($self)\n--\n\nA NumPy array that shares this tensor's memory, which the CPU must be able to read."},
    {NULL, NULL, 0, NULL}};

static PyGetSetDef kGetSet[] = {
    {"shape", GetShape, NULL, "Extents, a tuple of ints.", NULL},
    {"strides", GetStrides, NULL, "Steps in elements, a tuple of ints.", NULL},
    {"dtype", GetDType, NULL, "The element type, a kernpack.DType.", NULL},
    {"device", GetDevice, NULL, "The device of the memory, a kernpack.Device.", NULL},
    {"ndim", GetDim, NULL, "Number of dimensions.", NULL},
    {"nbytes", GetNBytes, NULL, "Bytes of all elements.", NULL},
    {"read_only", GetReadOnly, NULL, "True for memory that may not be written to, such as a JAX array's.", NULL},
    {"data_ptr", GetDataPtr, NULL, "Address of the first element, an int.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

int kpy_tensor_init(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, (void*)Dealloc},
                         {Py_tp_repr, (void*)Repr},
                         {Py_tp_methods, kMethods},
                         {Py_tp_getset, kGetSet},
                         {Py_sq_length, (void*)Length},
                         {Py_bf_getbuffer, (void*)kpy_tensor_get_buffer},
                         {Py_bf_releasebuffer, (void*)kpy_tensor_release_buffer},
                         {Py_tp_doc, "A tensor of Kernpack's host. NumPy, PyTorch and JAX accept it without a copy."},
                         {0, NULL}};
  PyType_Spec spec = {"kernpack.Tensor", sizeof(KpyTensor), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  PyObject* capsule;
  g_type = (PyTypeObject*)PyType_FromSpec(&spec);
  if (g_type == NULL) return -1;
  capsule = kpy_tensor_exchange_capsule();
  if (capsule == NULL || PyObject_SetAttrString((PyObject*)g_type, KPY_EXCHANGE_ATTRIBUTE, capsule) != 0) return -1;
  Py_DECREF(capsule);
  return PyModule_AddObjectRef(module, "Tensor", (PyObject*)g_type);
}
