#include "api_arguments.h"

#include <string.h>

#include "api.h"
#include "values/classes.h"
#include "python/errors.h"
#include "call/function.h"
#include "python/hooks.h"
#include "values/values.h"

static const char* const kExpected[] = {
#define EXPECTED(kind, type, expected, hint) expected,
    KPY_ARG_KINDS(EXPECTED)
#undef EXPECTED
};

static const char* const kHints[] = {
#define HINT(kind, type, expected, hint) hint,
    KPY_ARG_KINDS(HINT)
#undef HINT
};

static int IsOptional(KpyArgKind kind) { return kind == KPY_ARG_OPT_STR || kind == KPY_ARG_OPT_DEVICE; }

static int IsOwned(KpyArgKind kind) {
  return kind == KPY_ARG_TENSOR || kind == KPY_ARG_TARGET || kind == KPY_ARG_FUNCTION || kind == KPY_ARG_VALUE;
}

/* Results of the readers below: 1: read; 0: it is of another type; OUT_OF_RANGE; -1: a Python exception is set. */
enum { OUT_OF_RANGE = 2 };

static int ReadStr(PyObject* object, KpBytes* out) {
  Py_ssize_t size;
  if (!PyUnicode_Check(object)) return 0;
  out->data = PyUnicode_AsUTF8AndSize(object, &size);
  out->size = (size_t)size;
  return out->data == NULL ? -1 : 1;
}

static int ReadCStr(PyObject* object, const char** out) {
  KpBytes text;
  const int is = ReadStr(object, &text);
  if (is != 1) return is;
  *out = text.data;
  return strlen(text.data) == text.size;
}

/* As the file system has it, which need not be UTF-8. */
static int ReadPath(PyObject* object, PyObject** out) {
  if (!PyUnicode_Check(object)) return 0;
  *out = PyUnicode_EncodeFSDefault(object);
  if (*out == NULL) return -1;
  if (strlen(PyBytes_AsString(*out)) == (size_t)PyBytes_Size(*out)) return 1;
  Py_DECREF(*out);
  return 0;
}

/* An int, or what stands for one, as numpy.int64 does. */
static int ReadUnsigned(PyObject* object, uint64_t most, uint64_t* out) {
  PyObject* number = PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
  if (number == NULL) return PyErr_Occurred() ? -1 : 0;
  *out = PyLong_AsUnsignedLongLong(number);
  Py_DECREF(number);
  if (!PyErr_Occurred()) return *out <= most ? 1 : OUT_OF_RANGE;
  PyErr_Clear();
  return OUT_OF_RANGE;
}

static int ReadInt(PyObject* object, int32_t* out) {
  PyObject* number = PyIndex_Check(object) ? PyNumber_Index(object) : NULL;
  long long value;
  int overflow;
  if (number == NULL) return PyErr_Occurred() ? -1 : 0;
  value = PyLong_AsLongLongAndOverflow(number, &overflow);
  Py_DECREF(number);
  *out = (int32_t)value;
  return !overflow && *out == value ? 1 : OUT_OF_RANGE;
}

static int ReadTensor(PyObject* object, KpAny* out) {
  if (!kpy_is_tensor(object)) return 0;
  return kpy_tensor_keep(object, out) == 0 ? 1 : -1;
}

static int ReadTarget(const KpyApiFunction* f, const char* name, PyObject* object, KpAny* out) {
  const int is = ReadTensor(object, out);
  if (is != 1 || !(kp_tensor_flags(out->v.v_obj) & 1)) return is;
  kp_any_release(out);
  PyErr_Format(PyExc_ValueError, "%s: %s: expected a writeable tensor, got a read-only one: write to a copy", f->who,
               name);
  return -1;
}

static int ReadFunction(PyObject* object, const char* name, KpAny* out) {
  if (kpy_to_any(object, name, out) != 0) return -1;
  if (out->type_index == KP_TYPE_FUNCTION) return 1;
  kp_any_release(out);
  return 0;
}

static void* Pointer(PyObject* capsule, const char* of) {
  return PyCapsule_IsValid(capsule, of) ? PyCapsule_GetPointer(capsule, of) : NULL;
}

/* `object` is NULL where an optional argument was left out. */
static int Read(const KpyApiFunction* f, KpyApiParam param, PyObject* object, KpyArg* out) {
  uint64_t number;
  int is;
  switch (param.kind) {
    case KPY_ARG_ANY:
      out->ANY = object;
      return 1;
    case KPY_ARG_CALLABLE:
      out->CALLABLE = object;
      return PyCallable_Check(object);
    case KPY_ARG_HOOK:
      out->HOOK = object == Py_None ? NULL : object;
      return object == Py_None || PyCallable_Check(object);
    case KPY_ARG_CLASS:
      out->CLASS = (PyTypeObject*)object;
      return PyType_Check(object);
    case KPY_ARG_EXCEPTION:
      out->EXCEPTION = object;
      return PyType_Check(object) && PyType_IsSubtype((PyTypeObject*)object, (PyTypeObject*)PyExc_BaseException);
    case KPY_ARG_TUPLE:
      out->TUPLE = object;
      return PyTuple_Check(object);
    case KPY_ARG_STR:
      return ReadStr(object, &out->STR);
    case KPY_ARG_OPT_STR:
      out->OPT_STR.data = NULL;
      out->OPT_STR.size = 0;
      return object == NULL || object == Py_None ? 1 : ReadStr(object, &out->OPT_STR);
    case KPY_ARG_C_STR:
      return ReadCStr(object, &out->C_STR);
    case KPY_ARG_PATH:
      return ReadPath(object, &out->PATH);
    case KPY_ARG_BOOL:
      out->BOOL = PyObject_IsTrue(object);
      return out->BOOL < 0 ? -1 : 1;
    case KPY_ARG_INT:
      return ReadInt(object, &out->INT);
    case KPY_ARG_UINT32:
      is = ReadUnsigned(object, UINT32_MAX, &number);
      out->UINT32 = (uint32_t)number;
      return is;
    case KPY_ARG_UINT64:
      return ReadUnsigned(object, UINT64_MAX, &out->UINT64);
    case KPY_ARG_ADDRESS:
      is = ReadUnsigned(object, UINT64_MAX, &number);
      out->ADDRESS = (void*)(uintptr_t)number;
      return is;
    case KPY_ARG_DEVICE:
      return kpy_device_from(object, &out->DEVICE);
    case KPY_ARG_DEVICE_OR_NONE:
    case KPY_ARG_OPT_DEVICE:
      out->DEVICE.device_type = 0;
      out->DEVICE.device_id = 0;
      return object == NULL || object == Py_None ? 1 : kpy_device_from(object, &out->DEVICE);
    case KPY_ARG_DTYPE:
      return kpy_dtype_from(object, &out->DTYPE);
    case KPY_ARG_TENSOR:
      return ReadTensor(object, &out->TENSOR);
    case KPY_ARG_TARGET:
      return ReadTarget(f, param.name, object, &out->TARGET);
    case KPY_ARG_FUNCTION:
      return ReadFunction(object, param.name, &out->FUNCTION);
    case KPY_ARG_VALUE:
      return kpy_to_any(object, param.name, &out->VALUE) == 0 ? 1 : -1;
    case KPY_ARG_MODULE:
      return (out->MODULE = (const KpLoadedModule*)Pointer(object, KPY_MODULE_CAPSULE)) != NULL;
    case KPY_ARG_PROFILE:
      return (out->PROFILE = (KpProfile*)Pointer(object, KPY_PROFILE_CAPSULE)) != NULL;
    case KPY_ARG_OBJECT:
      return (out->OBJECT = (KpObject*)Pointer(object, KPY_OBJECT_CAPSULE)) != NULL;
    case KPY_ARG_INFO:
      out->INFO = (KpyFunction*)object;
      return PyObject_TypeCheck(object, kpy_function_type());
  }
  return 0;
}

/* "str gpu", "None": the type and the value. */
static PyObject* Described(PyObject* object) {
  PyObject *type, *shown, *text = NULL;
  if (object == Py_None) return PyUnicode_FromString("None");
  type = PyType_GetName(Py_TYPE(object));
  shown = type == NULL ? NULL : kpy_helper("shown", "(O)", object);
  if (shown != NULL) text = PyUnicode_FromFormat("%U %U", type, shown);
  Py_XDECREF(type);
  Py_XDECREF(shown);
  return text;
}

static void Refuse(const KpyApiFunction* f, KpyApiParam param, PyObject* object, PyObject* type) {
  PyObject* got = Described(object);
  if (got == NULL) return;
  PyErr_Format(type, "%s: %s: expected %s, got %U%s", f->who, param.name, kExpected[param.kind], got,
               kHints[param.kind]);
  Py_DECREF(got);
}

/* The parameters in a row: "(device, handle)". */
static void RefuseCount(const KpyApiFunction* f, const char* wrong, Py_ssize_t at, const char* name) {
  char list[160] = "";
  Py_ssize_t i;
  for (i = 0; i < f->count; ++i) {
    if (i > 0) strncat(list, ", ", sizeof list - strlen(list) - 1);
    strncat(list, f->params[i].name, sizeof list - strlen(list) - 1);
  }
  if (name != NULL) {
    PyErr_Format(PyExc_TypeError, "%s: %s '%s'; it takes (%s)", f->who, wrong, name, list);
  } else {
    PyErr_Format(PyExc_TypeError, "%s: %s %zd; it takes (%s)", f->who, wrong, at, list);
  }
}

/* Keywords beside the first `nargs`. */
static int Spread(const KpyApiFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                  PyObject** objects) {
  Py_ssize_t i, at;
  for (i = 0; i < PyTuple_Size(kwnames); ++i) {
    PyObject* name = PyTuple_GetItem(kwnames, i);
    for (at = 0; at < f->count; ++at) {
      if (PyUnicode_CompareWithASCIIString(name, f->params[at].name) == 0) break;
    }
    if (at == f->count || objects[at] != NULL) {
      KpBytes text;
      if (ReadStr(name, &text) != 1) return -1;
      RefuseCount(f, at == f->count ? "got an unexpected keyword argument" : "got two values for argument", 0,
                  text.data);
      return -1;
    }
    objects[at] = args[nargs + i];
  }
  return 0;
}

static void Release(const KpyApiFunction* f, KpyArg* args, Py_ssize_t count) {
  Py_ssize_t i;
  for (i = 0; i < count; ++i) {
    if (IsOwned(f->params[i].kind)) kp_any_release(&args[i].VALUE);
    if (f->params[i].kind == KPY_ARG_PATH) Py_DECREF(args[i].PATH);
  }
}

int kpy_api_read(const KpyApiFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, KpyArg* out) {
  PyObject* spread[KPY_API_MOST] = {NULL};
  PyObject* const* objects = args;
  Py_ssize_t i;
  if (KPY_UNLIKELY(nargs > f->count)) {
    RefuseCount(f, "expected fewer arguments, got", nargs, NULL);
    return -1;
  }
  if (KPY_UNLIKELY(nargs < f->count || kwnames != NULL)) {
    for (i = 0; i < nargs; ++i) spread[i] = args[i];
    if (kwnames != NULL && Spread(f, args, nargs, kwnames, spread) != 0) return -1;
    objects = spread;
  }
  for (i = 0; i < f->count; ++i) {
    const KpyApiParam param = f->params[i];
    int is;
    if (KPY_UNLIKELY(objects[i] == NULL && !IsOptional(param.kind))) {
      RefuseCount(f, "missing argument", 0, param.name);
      break;
    }
    is = Read(f, param, objects[i], &out[i]);
    if (KPY_LIKELY(is == 1)) continue;
    if (is >= 0) Refuse(f, param, objects[i], is == OUT_OF_RANGE ? PyExc_OverflowError : PyExc_TypeError);
    break;
  }
  if (KPY_LIKELY(i == f->count)) return 0;
  Release(f, out, i);
  return -1;
}

PyObject* kpy_api_answer(const KpyApiFunction* f, KpyArg* args, PyObject* answer) {
  Release(f, args, f->count);
  return answer != NULL || PyErr_Occurred() ? answer : kpy_raise_host(f->who, -1);
}
