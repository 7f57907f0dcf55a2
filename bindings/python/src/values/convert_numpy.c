/* NumPy arrays as arguments: a peek at the fields, no Python call. */
#include "python/errors.h"
#include "call/frame.h"
#include "python/hooks.h"
#include "numpy_layout.h"
#include "values.h"

static int Refuse(KpyCall* call, const char* expected, PyObject* object) {
  PyObject* got = kpy_helper("describe_array", "(O)", object);
  if (got == NULL) return KPY_ERROR;
  (void)kpy_argument_error(call, PyExc_ValueError, expected, got);
  Py_DECREF(got);
  return KPY_ERROR;
}

/* `bits`: of an element, or 0 if there is no contract's name for its dtype. */
static int RefuseDType(KpyCall* call, PyObject* object, int bits) {
  const char* const expected =
      bits > 0 && bits < 8
          ? "an array whose elements are whole bytes (convert it with .astype())"
          : "an array of bools, ints, floats or complex numbers in native byte order (convert it with .astype())";
  PyObject* got = kpy_helper("describe_array", "(O)", object);
  if (got == NULL) return KPY_ERROR;
  (void)kpy_argument_error(call, PyExc_TypeError, expected, got);
  Py_DECREF(got);
  return KPY_ERROR;
}

/* Copies shape and strides: the array may be reshaped in place while the kernel runs without the GIL. */
static int ViewShape(KpyCall* call, const NpArray* array, KpDLTensor* view) {
  int32_t n = array->ndim, i;
  const int64_t itemsize = view->dtype.bits / 8;
  int64_t* dims = kpy_call_dims(call, 2 * n);
  if (dims == NULL) return -1;
  view->shape = dims;
  view->strides = dims + n;
  for (i = 0; i < n; ++i) {
    const int64_t stride = array->strides[i];
    dims[i] = array->dims[i];
    /* Element sizes are powers of two; a division costs more than the rest of this loop. */
    dims[n + i] = stride >> __builtin_ctzll((unsigned long long)itemsize);
    if (KPY_UNLIKELY((stride & (itemsize - 1)) != 0) && dims[i] > 1) return 1;
  }
  return 0;
}

static int ConvertNumpy(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  const NpArray* array = (const NpArray*)(const void*)object;
  KpDLTensor* view = kpy_call_tensor(call);
  int rc, read_only;
  if (KPY_UNLIKELY(view == NULL)) return KPY_ERROR;
  view->dtype.bits = 0;
  rc = kpy_numpy_dtype(array->descr, &view->dtype);
  if (KPY_UNLIKELY(rc <= 0)) return rc < 0 ? KPY_ERROR : RefuseDType(call, object, view->dtype.bits);
  view->data = array->data;
  view->device.device_type = KP_DEVICE_CPU;
  view->device.device_id = 0;
  view->ndim = array->ndim;
  view->byte_offset = 0;
  rc = ViewShape(call, array, view);
  if (KPY_UNLIKELY(rc < 0)) return KPY_ERROR;
  if (KPY_UNLIKELY(rc > 0)) return Refuse(call, "strides that are multiples of the element size (pass a copy)", object);
  if (KPY_UNLIKELY(!(array->flags & NP_ALIGNED))) {
    return Refuse(call, "an aligned array (pass np.require(x, requirements='A'))", object);
  }
  read_only = !(array->flags & NP_WRITEABLE);
  if (KPY_UNLIKELY(read_only) && (call->flags & KP_PARAM_MUTATED)) {
    return Refuse(call, "a writeable array (it may be written to; pass a copy)", object);
  }
  if (call->family == NULL) call->family = slot->family;
  return kpy_emit_tensor(call, view, object, read_only, out);
}

/* Its values alone would ignore the mask. */
static int ConvertMasked(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)out;
  return Refuse(call, "an array without a mask (pass x.filled(value) or x.data)", object);
}

/* Once a type. 1 if its arrays have masks, -1 with an exception set. */
static int IsMasked(PyTypeObject* type) {
  PyObject* answer;
  int masked;
  if (type == kpy_numpy_array_type()) return 0;
  answer = kpy_helper("numpy_is_masked", "(O)", (PyObject*)type);
  masked = answer == NULL ? -1 : PyObject_IsTrue(answer);
  Py_XDECREF(answer);
  return masked;
}

int kpy_resolve_numpy(PyObject* object, KpySlot* out) {
  int masked;
  if (!kpy_numpy_ready() || !PyType_IsSubtype(Py_TYPE(object), kpy_numpy_array_type())) return 0;
  masked = IsMasked(Py_TYPE(object));
  if (masked < 0) return -1;
  out->convert = masked ? ConvertMasked : ConvertNumpy;
  out->family = kpy_numpy_family();
  return 1;
}
