/* None, bool, int, float, and what behaves like them (numpy scalars, anything with __index__). */
#include "python/errors.h"
#include "call/frame.h"
#include "python/hooks.h"
#include "values.h"

static int ConvertNone(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)call, (void)slot, (void)object;
  *out = kp_none();
  return KPY_OK;
}

static int ConvertBool(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)call, (void)slot;
  out->type_index = KP_TYPE_BOOL;
  out->small_len = 0;
  out->v.v_int = object == Py_True;
  return KPY_OK;
}

static int ConvertTruth(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  int truth = PyObject_IsTrue(object);
  (void)call, (void)slot;
  if (truth < 0) return KPY_ERROR;
  out->type_index = KP_TYPE_BOOL;
  out->small_len = 0;
  out->v.v_int = truth;
  return KPY_OK;
}

static int ConvertInt(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  int overflow;
  (void)slot;
  out->type_index = KP_TYPE_INT;
  out->small_len = 0;
  out->v.v_int = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (KPY_UNLIKELY(overflow != 0) && call->function != NULL && call->function->of_peer) {
    if (kpy_to_big_int(object, out) != 0) return kpy_name_argument(call);
    return kpy_call_keep_any(call, out);
  }
  if (KPY_UNLIKELY(overflow != 0))
    return kpy_argument_error(call, PyExc_OverflowError, "an int of 64 bits (-2**63 to 2**63 - 1)", object);
  if (KPY_UNLIKELY(out->v.v_int == -1) && PyErr_Occurred()) return KPY_ERROR;
  return KPY_OK;
}

static int ConvertIndex(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  PyObject* number = PyNumber_Index(object);
  int rc;
  if (number == NULL) return KPY_ERROR;
  rc = ConvertInt(call, slot, number, out);
  Py_DECREF(number);
  return rc;
}

/* For a parameter that the contract calls a float, so that kernels in C may read v_float. */
static int AsFloat(int rc, KpAny* out) {
  if (KPY_UNLIKELY(rc != KPY_OK)) return rc;
  out->type_index = KP_TYPE_FLOAT;
  out->v.v_float = (double)out->v.v_int;
  return KPY_OK;
}

static int ConvertIntToFloat(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  return AsFloat(ConvertInt(call, slot, object, out), out);
}

static int ConvertIndexToFloat(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  return AsFloat(ConvertIndex(call, slot, object, out), out);
}

static int ConvertFloat(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)call, (void)slot;
  out->type_index = KP_TYPE_FLOAT;
  out->small_len = 0;
  out->v.v_float = PyFloat_AsDouble(object);
  if (KPY_UNLIKELY(out->v.v_float == -1.0) && PyErr_Occurred()) return KPY_ERROR;
  return KPY_OK;
}

/* 1 when object is an instance of module.name, 0 when not, -1 on error. */
static int IsInstanceOf(PyObject* object, PyObject* module, const char* name) {
  PyObject* type = PyObject_GetAttrString(module, name);
  int answer;
  if (type == NULL) {
    PyErr_Clear();
    return 0;
  }
  answer = PyObject_IsInstance(object, type);
  Py_DECREF(type);
  return answer;
}

static int ResolveNumpyScalar(PyObject* object, uint32_t kind, KpySlot* out) {
  static const struct {
    const char* name;
    KpyConvert convert;
    KpyConvert to_float;
  } kKinds[] = {{"bool_", ConvertTruth, ConvertTruth},
                {"integer", ConvertIndex, ConvertIndexToFloat},
                {"floating", ConvertFloat, ConvertFloat}};
  PyObject* numpy = kpy_loaded_module("numpy");
  size_t i;
  int is = 0;
  if (numpy == NULL) return 0;
  for (i = 0; is == 0 && i < sizeof(kKinds) / sizeof(kKinds[0]); ++i) {
    is = IsInstanceOf(object, numpy, kKinds[i].name);
    if (is > 0) out->convert = kind == KP_PARAM_FLOAT ? kKinds[i].to_float : kKinds[i].convert;
  }
  Py_DECREF(numpy);
  return is;
}

/* ml_dtypes' scalars (bfloat16, float8_*) are numbers without being numpy.floating: read through __float__. */
static int IsMlDtypesScalar(PyObject* object) {
  PyObject* module = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__module__");
  int is = module != NULL && PyUnicode_Check(module) && PyUnicode_CompareWithASCIIString(module, "ml_dtypes") == 0;
  if (module == NULL) PyErr_Clear();
  Py_XDECREF(module);
  return is;
}

int kpy_resolve_scalar(PyObject* object, uint32_t kind, KpySlot* out) {
  if (object == Py_None) {
    out->convert = ConvertNone;
  } else if (PyBool_Check(object)) {
    out->convert = ConvertBool;
  } else if (PyLong_Check(object)) {
    out->convert = kind == KP_PARAM_FLOAT ? ConvertIntToFloat : ConvertInt;
  } else if (PyFloat_Check(object) || IsMlDtypesScalar(object)) {
    out->convert = ConvertFloat;
  } else {
    return ResolveNumpyScalar(object, kind, out);
  }
  return 1;
}
