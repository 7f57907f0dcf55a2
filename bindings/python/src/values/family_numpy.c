/* Results as NumPy arrays: allocated through NumPy's C-API table. */
#include "classes.h"
#include "call/frame.h"
#include "python/hooks.h"
#include "numpy_layout.h"

enum { NP_API_DESCR_FROM_TYPE = 45, NP_API_NEW_FROM_DESCR = 94 }; /* NumPy's published indices */

typedef PyObject* (*NpDescrFromType)(int type_num);
typedef PyObject* (*NpNewFromDescr)(PyTypeObject* type, PyObject* stolen_descr, int ndim, const Py_ssize_t* dims,
                                    const Py_ssize_t* strides, void* data, int flags, PyObject* base);

static const KpyFamily g_numpy;

/* NumPy's own number of a dtype, or -1. */
static int TypeNumber(KpDLDataType dtype) {
  int log2 = dtype.bits >= 8 ? __builtin_ctz(dtype.bits) - 3 : 0;
  if (dtype.lanes != 1 || (dtype.bits & (dtype.bits - 1)) != 0) return -1;
  switch (dtype.code) {
    case KP_DTYPE_BOOL:
      return dtype.bits == 8 ? 0 : -1;
    case KP_DTYPE_INT:
    case KP_DTYPE_UINT: {
      static const int kNumbers[] = {1, 3, 5, sizeof(long) == 8 ? 7 : 9};
      if (dtype.bits < 8 || log2 > 3) return -1;
      return kNumbers[log2] + (dtype.code == KP_DTYPE_UINT);
    }
    case KP_DTYPE_FLOAT:
      return dtype.bits == 16 ? 23 : dtype.bits == 32 ? 11 : dtype.bits == 64 ? 12 : -1;
    case KP_DTYPE_COMPLEX:
      return dtype.bits == 64 ? 14 : dtype.bits == 128 ? 15 : -1;
    default:
      return -1;
  }
}

/* A new reference to the descriptor; those beyond NumPy's own come from ml_dtypes. */
static PyObject* Descriptor(KpDLDataType dtype) {
  const int number = TypeNumber(dtype);
  NpDescrFromType from_type = (NpDescrFromType)kpy_numpy_api(NP_API_DESCR_FROM_TYPE);
  if (number >= 0 && from_type != NULL) return from_type(number);
  return kpy_helper("numpy_dtype", "(s)", kp_dtype_name(dtype));
}

static PyObject* NewArray(const KpDLTensor* prototype) {
  NpNewFromDescr new_from_descr = (NpNewFromDescr)kpy_numpy_api(NP_API_NEW_FROM_DESCR);
  PyObject* descr = Descriptor(prototype->dtype);
  PyObject *shape, *array;
  int i;
  if (descr == NULL) return NULL;
  if (new_from_descr != NULL) {
    return new_from_descr(kpy_numpy_array_type(), descr, prototype->ndim, (const Py_ssize_t*)prototype->shape, NULL,
                          NULL, 0, NULL);
  }
  shape = PyTuple_New(prototype->ndim);
  for (i = 0; shape != NULL && i < prototype->ndim; ++i) {
    PyTuple_SetItem(shape, i, PyLong_FromLongLong(prototype->shape[i]));
  }
  array = shape == NULL ? NULL : kpy_helper("numpy_empty", "OO", shape, descr);
  Py_XDECREF(shape);
  Py_DECREF(descr);
  return array;
}

static int Allocate(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out) {
  PyObject* array;
  (void)family;
  if (prototype->device.device_type != KP_DEVICE_CPU) {
    return kpy_own_family()->allocate(call, kpy_own_family(), prototype, index, out);
  }
  array = NewArray(prototype);
  return kpy_hold_object(call, prototype, index, array,
                         array == NULL ? NULL : ((const NpArray*)(const void*)array)->data, out);
}

static PyObject* Wrap(const KpyFamily* family, KpObject* tensor) {
  const KpDLTensor* view = &((const KpTensorObject*)(const void*)tensor)->tensor;
  PyObject *own = kpy_tensor_from_object(tensor), *array;
  (void)family;
  if (own == NULL || view->device.device_type != KP_DEVICE_CPU) return own;
  array = kpy_helper("numpy_from_tensor", "(O)", own);
  Py_DECREF(own);
  return array;
}

static const KpyFamily g_numpy = {"numpy", Allocate, kpy_finish_object, kpy_discard_object, Wrap, NULL, NULL, NULL};

const KpyFamily* kpy_numpy_family(void) { return kpy_numpy_ready() ? &g_numpy : NULL; }
