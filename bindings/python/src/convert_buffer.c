/* The buffer protocol: bytearray, memoryview, array.array, and NumPy arrays of a layout we do not know. */
#include <string.h>

#include "errors.h"
#include "frame.h"
#include "values.h"

static void ReleaseBuffer(void* what) {
  PyBuffer_Release((Py_buffer*)what);
  PyMem_Free(what);
}

/* struct-module formats of one native element. */
static int DTypeOfFormat(const char* format, Py_ssize_t itemsize, KpDLDataType* out) {
  static const struct {
    char letter;
    uint8_t code;
  } kLetters[] = {{'?', KP_DTYPE_BOOL}, {'b', KP_DTYPE_INT},   {'B', KP_DTYPE_UINT},  {'h', KP_DTYPE_INT},
                  {'H', KP_DTYPE_UINT}, {'i', KP_DTYPE_INT},   {'I', KP_DTYPE_UINT},  {'l', KP_DTYPE_INT},
                  {'L', KP_DTYPE_UINT}, {'q', KP_DTYPE_INT},   {'Q', KP_DTYPE_UINT},  {'n', KP_DTYPE_INT},
                  {'N', KP_DTYPE_UINT}, {'e', KP_DTYPE_FLOAT}, {'f', KP_DTYPE_FLOAT}, {'d', KP_DTYPE_FLOAT}};
  const int complex_number = format != NULL && format[0] == 'Z';
  size_t i;
  if (format == NULL) format = "B";
  if (*format == '@' || *format == '=' || *format == (PY_BIG_ENDIAN ? '>' : '<')) ++format;
  if (complex_number) ++format;
  if (format[0] == 0 || format[1] != 0 || itemsize > 16) return 0;
  for (i = 0; i < sizeof(kLetters) / sizeof(kLetters[0]); ++i) {
    if (kLetters[i].letter != format[0]) continue;
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

static int ViewShape(KpyCall* call, const Py_buffer* buffer, KpDLTensor* view) {
  int64_t* dims = kpy_call_dims(call, 2 * buffer->ndim);
  int i;
  if (dims == NULL) return KPY_ERROR;
  for (i = 0; i < buffer->ndim; ++i) {
    if (buffer->strides[i] % buffer->itemsize != 0) {
      return Refuse(call, PyExc_ValueError, "strides that are multiples of the element size (pass a copy)",
                    "other strides");
    }
    dims[i] = buffer->shape[i];
    dims[buffer->ndim + i] = buffer->strides[i] / buffer->itemsize;
  }
  view->shape = dims;
  view->strides = dims + buffer->ndim;
  return KPY_OK;
}

/* A tensor that outlives the call holds an export of its own, in a memoryview. */
static int Emit(KpyCall* call, KpDLTensor* view, PyObject* object, KpAny* out) {
  PyObject* holder;
  int rc;
  if (!call->own_tensors) return kpy_emit_tensor(call, view, object, out);
  holder = PyMemoryView_FromObject(object);
  if (holder == NULL) return KPY_ERROR;
  rc = kpy_emit_tensor(call, view, holder, out);
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
  if (buffer->suboffsets != NULL) return Refuse(call, PyExc_ValueError, "a buffer without suboffsets", "one with them");
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
  return Emit(call, view, object, out);
}

int kpy_resolve_buffer(PyObject* object, KpySlot* out) {
  if (!PyObject_CheckBuffer(object)) return 0;
  out->convert = ConvertBuffer;
  return 1;
}
