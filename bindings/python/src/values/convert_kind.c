/* dtypes and devices, in every framework's spelling. A str is one only where the parameter asks for one. */
#include "classes.h"
#include "python/errors.h"
#include "call/frame.h"

static void SetDType(KpAny* out, KpDLDataType dtype) {
  out->type_index = KP_TYPE_DTYPE;
  out->small_len = 0;
  out->v.v_bits = 0;
  out->v.v_dtype = dtype;
}

static void SetDevice(KpAny* out, KpDLDevice device) {
  out->type_index = KP_TYPE_DEVICE;
  out->small_len = 0;
  out->v.v_device = device;
}

static int ConvertDType(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  KpDLDataType dtype;
  int is = kpy_dtype_from(object, &dtype);
  (void)slot;
  if (is == 0) return kpy_argument_error(call, PyExc_ValueError, "a dtype", object);
  if (is < 0) return kpy_name_argument(call);
  SetDType(out, dtype);
  return KPY_OK;
}

/* A class may be a dtype (np.float32) or just a callable; only its value tells. */
static int ConvertClass(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  KpDLDataType dtype;
  int is = kpy_dtype_from(object, &dtype);
  if (is < 0) return kpy_name_argument(call);
  if (is == 0) return kpy_convert_callable(call, slot, object, out);
  SetDType(out, dtype);
  return KPY_OK;
}

static int ConvertDevice(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  KpDLDevice device;
  int is = kpy_device_from(object, &device);
  (void)slot;
  if (is == 0) return kpy_argument_error(call, PyExc_ValueError, "a device", object);
  if (is < 0) return kpy_name_argument(call);
  SetDevice(out, device);
  return KPY_OK;
}

int kpy_resolve_kind(PyObject* object, uint32_t kind, KpySlot* out) {
  KpDLDataType dtype;
  KpDLDevice device;
  int is;
  if (object == Py_None) return 0;
  if (kind == KP_PARAM_DTYPE) {
    is = PyUnicode_Check(object) ? 1 : kpy_dtype_from(object, &dtype);
    if (is == 1) out->convert = ConvertDType;
    return is;
  }
  if (kind == KP_PARAM_DEVICE) {
    is = PyUnicode_Check(object) || PyTuple_Check(object) ? 1 : kpy_device_from(object, &device);
    if (is == 1) out->convert = ConvertDevice;
    return is;
  }
  if (kind != KPY_KIND_ANY || PyUnicode_Check(object) || PyTuple_Check(object) || PyLong_Check(object)) return 0;
  if (PyType_Check(object)) {
    out->convert = ConvertClass;
    return 1;
  }
  is = kpy_dtype_from(object, &dtype);
  if (is != 0) {
    out->convert = ConvertDType;
    return is;
  }
  is = kpy_device_from(object, &device);
  if (is != 0) out->convert = ConvertDevice;
  return is;
}
