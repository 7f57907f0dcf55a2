/* The buffer protocol: bytearray, memoryview, array.array, and NumPy arrays of a layout we do not know. */
#include <string.h>

#include "python/errors.h"
#include "call/frame.h"
#include "values.h"

static void ReleaseBuffer(void* what) {
  PyBuffer_Release((Py_buffer*)what);
  PyMem_Free(what);
}

/* struct-module formats of one native element. No format means bytes. */
static int DTypeOfFormat(const char* format, Py_ssize_t itemsize, KpDLDataType* out) {
  static const struct {
    char letter;
    uint8_t code;
    uint8_t size, other_size; /* "l" has that of C or that of the struct module */
  } kLetters[] = {{'?', KP_DTYPE_BOOL, 1, 1}, {'b', KP_DTYPE_INT, 1, 1},   {'B', KP_DTYPE_UINT, 1, 1},
                  {'h', KP_DTYPE_INT, 2, 2},  {'H', KP_DTYPE_UINT, 2, 2},  {'i', KP_DTYPE_INT, 4, 4},
                  {'I', KP_DTYPE_UINT, 4, 4}, {'l', KP_DTYPE_INT, 4, 8},   {'L', KP_DTYPE_UINT, 4, 8},
                  {'q', KP_DTYPE_INT, 8, 8},  {'Q', KP_DTYPE_UINT, 8, 8},  {'n', KP_DTYPE_INT, 8, 4},
                  {'N', KP_DTYPE_UINT, 8, 4}, {'e', KP_DTYPE_FLOAT, 2, 2}, {'f', KP_DTYPE_FLOAT, 4, 4},
                  {'d', KP_DTYPE_FLOAT, 8, 8}};
  int complex_number;
  size_t i;
  if (format == NULL) format = "B";
  if (*format == '@' || *format == '=' || *format == (PY_BIG_ENDIAN ? '>' : '<')) ++format;
  complex_number = *format == 'Z';
  if (complex_number) ++format;
  if (format[0] == 0 || format[1] != 0) return 0;
  for (i = 0; i < sizeof(kLetters) / sizeof(kLetters[0]); ++i) {
    const Py_ssize_t size = complex_number ? itemsize / 2 : itemsize;
    if (kLetters[i].letter != format[0]) continue;
    if ((size != kLetters[i].size && size != kLetters[i].other_size) || itemsize != (complex_number ? 2 * size : size))
      return 0;
    if (complex_number && kLetters[i].code != KP_DTYPE_FLOAT) return 0;
    out->code = complex_number ? KP_DTYPE_COMPLEX : kLetters[i].code;
    out->bits = (uint8_t)(8 * itemsize);
    out->lanes = 1;
    return 1;
  }
  return 0;
}

static int Refuse(KpyCall* call, PyObject* type, const char* expected, const char* got) {
  PyObject* text = PyUnicode_FromString(got);
  if (text != NULL) (void)kpy_argument_error(call, type, expected, text);
  Py_XDECREF(text);
  return KPY_ERROR;
}

/* Exporters may leave shape and strides out, although they are asked for: then there is one row, in row-major order. */
static int ViewShape(KpyCall* call, const Py_buffer* buffer, KpDLTensor* view) {
  const Py_ssize_t count = buffer->len / buffer->itemsize;
  int64_t *dims, elements = 1;
  int i;
  if (buffer->ndim < 0 || buffer->ndim > KP_MAX_NDIM || (buffer->shape == NULL && buffer->ndim > 1))
    return Refuse(call, PyExc_ValueError, "a buffer of 0 to 64 dims with a shape", "another one");
  for (i = 0; buffer->suboffsets != NULL && i < buffer->ndim; ++i) {
    if (buffer->suboffsets[i] >= 0)
      return Refuse(call, PyExc_ValueError, "a buffer without suboffsets (pass a copy)", "one with them");
  }
  dims = kpy_call_dims(call, 2 * buffer->ndim);
  if (dims == NULL) return KPY_ERROR;
  view->shape = dims;
  view->strides = dims + buffer->ndim;
  for (i = 0; i < buffer->ndim; ++i) {
    dims[i] = buffer->shape != NULL ? buffer->shape[i] : count;
    if (__builtin_mul_overflow(elements, dims[i], &elements)) elements = -1;
  }
  if (elements < 0 || elements > count)
    return Refuse(call, PyExc_ValueError, "a buffer that is as long as its shape says", "a shorter one");
  kp_row_major_strides(view->ndim, dims, view->strides);
  for (i = 0; buffer->shape != NULL && buffer->strides != NULL && i < buffer->ndim; ++i) {
    if (buffer->strides[i] % buffer->itemsize != 0 && dims[i] > 1) {
      return Refuse(call, PyExc_ValueError, "strides that are multiples of the element size (pass a copy)",
                    "other strides");
    }
    view->strides[i] = buffer->strides[i] / buffer->itemsize;
  }
  if (kp_dltensor_validate(view, "the buffer") == 0) return KPY_OK;
  (void)kpy_raise_host(kpy_who(call), -1);
  return kpy_name_argument(call);
}

/* A tensor that outlives the call holds an export of its own, in a memoryview. */
static int Emit(KpyCall* call, KpDLTensor* view, PyObject* object, int read_only, KpAny* out) {
  PyObject* holder;
  int rc;
  if (!call->own_tensors) return kpy_emit_tensor(call, view, object, read_only, out);
  holder = PyMemoryView_FromObject(object);
  if (holder == NULL) return KPY_ERROR;
  rc = kpy_emit_tensor(call, view, holder, read_only, out);
  Py_DECREF(holder);
  return rc;
}

static int ConvertBuffer(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  Py_buffer* buffer = (Py_buffer*)PyMem_Malloc(sizeof(Py_buffer));
  KpDLTensor* view = kpy_call_tensor(call);
  (void)slot;
  if (buffer == NULL || view == NULL) {
    PyMem_Free(buffer);
    PyErr_NoMemory();
    return KPY_ERROR;
  }
  if (PyObject_GetBuffer(object, buffer, PyBUF_FULL_RO) != 0) {
    PyMem_Free(buffer);
    return KPY_ERROR;
  }
  if (kpy_call_keep(call, buffer, ReleaseBuffer) != 0) return KPY_ERROR; /* exported: it cannot be resized meanwhile */
  if (!DTypeOfFormat(buffer->format, buffer->itemsize, &view->dtype)) {
    return Refuse(call, PyExc_TypeError, "a buffer of numbers in native byte order",
                  buffer->format ? buffer->format : "no format");
  }
  if (buffer->readonly && (call->flags & KP_PARAM_MUTATED)) {
    return Refuse(call, PyExc_ValueError, "a writeable buffer (it may be written to; pass a copy)", "a read-only one");
  }
  view->data = buffer->buf;
  view->device.device_type = KP_DEVICE_CPU;
  view->device.device_id = 0;
  view->ndim = buffer->ndim;
  view->byte_offset = 0;
  if (ViewShape(call, buffer, view) != KPY_OK) return KPY_ERROR;
  return Emit(call, view, object, buffer->readonly, out);
}

int kpy_resolve_buffer(PyObject* object, KpySlot* out) {
  if (!PyObject_CheckBuffer(object)) return 0;
  out->convert = ConvertBuffer;
  return 1;
}
