/* str and bytes. Borrowed from the Python object, which the call keeps alive. */
#include <string.h>

#include "python/errors.h"
#include "call/frame.h"

static int HostError(KpyCall* call) {
  (void)kpy_raise_host(call->function ? call->function->name : NULL, -1);
  return KPY_ERROR;
}

static void SetSmall(KpAny* out, int32_t type_index, const char* data, Py_ssize_t size) {
  out->type_index = type_index;
  out->small_len = (uint32_t)size;
  out->v.v_bits = 0;
  memcpy(out->v.v_bytes, data, (size_t)size);
}

static int ConvertStr(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  Py_ssize_t size;
  const char* data = PyUnicode_AsUTF8AndSize(object, &size);
  KpBytes text;
  (void)slot;
  if (data == NULL) {
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return KPY_ERROR;
    PyErr_Clear();
    return kpy_argument_error(call, PyExc_ValueError, "a str that can be encoded as UTF-8", object);
  }
  if (size <= 7) {
    SetSmall(out, KP_TYPE_SMALL_STR, data, size);
    return KPY_OK;
  }
  if (memchr(data, 0, (size_t)size) == NULL) {
    out->type_index = KP_TYPE_RAW_STR;
    out->small_len = 0;
    out->v.v_c_str = data;
    return KPY_OK;
  }
  text.data = data;
  text.size = (size_t)size;
  if (kp_string_new(text, out) != 0) return HostError(call);
  return kpy_call_keep_any(call, out);
}

static int ConvertBytes(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  char* data;
  Py_ssize_t size;
  KpBytes bytes;
  (void)slot;
  if (PyBytes_AsStringAndSize(object, &data, &size) != 0) return KPY_ERROR;
  if (size <= 7) {
    SetSmall(out, KP_TYPE_SMALL_BYTES, data, size);
    return KPY_OK;
  }
  bytes.data = data;
  bytes.size = (size_t)size;
  if (kp_bytes_new(bytes, out) != 0) return HostError(call);
  return kpy_call_keep_any(call, out);
}

int kpy_resolve_text(PyObject* object, KpySlot* out) {
  if (PyUnicode_Check(object)) {
    out->convert = ConvertStr;
  } else if (PyBytes_Check(object)) {
    out->convert = ConvertBytes;
  } else {
    return 0;
  }
  return 1;
}
