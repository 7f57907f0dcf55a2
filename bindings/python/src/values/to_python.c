/* From host values to Python objects. */
#include "classes.h"
#include "python/errors.h"
#include "family.h"
#include "values.h"

/* A container owns what it holds, so nothing in it may be borrowed: a pointer there is of a call that may be over. */
static PyObject* ItemToPython(const KpAny* item, const KpyFamily* family) {
  if (KPY_UNLIKELY(item->type_index >= KP_TYPE_DLTENSOR_PTR && item->type_index <= KP_TYPE_RVALUE_REF)) {
    return PyErr_Format(PyExc_TypeError,
                        "kernpack: an item of a container is a %s, which borrows memory; store an owned value",
                        kp_type_name(item->type_index));
  }
  return kpy_to_python(item, family);
}

static PyObject* FromSequence(const KpSequenceObject* sequence, const KpyFamily* family) {
  PyObject* list = PyList_New((Py_ssize_t)sequence->size);
  int64_t i;
  for (i = 0; list != NULL && i < sequence->size; ++i) {
    PyObject* item = ItemToPython(&sequence->data[i], family);
    if (item == NULL || PyList_SetItem(list, (Py_ssize_t)i, item) != 0) {
      Py_DECREF(list);
      return NULL;
    }
  }
  return list;
}

static PyObject* FromShape(const KpShapeObject* shape) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)shape->size);
  size_t i;
  for (i = 0; tuple != NULL && i < shape->size; ++i) {
    PyTuple_SetItem(tuple, (Py_ssize_t)i, PyLong_FromLongLong(shape->data[i]));
  }
  return tuple;
}

/* Sequences are lists, which Python's dicts do not take. */
static PyObject* KeyToPython(const KpAny* key, const KpyFamily* family) {
  PyObject* made = ItemToPython(key, family);
  PyObject* tuple;
  if (made == NULL || !PyList_Check(made)) return made;
  tuple = PyList_AsTuple(made);
  Py_DECREF(made);
  return tuple;
}

static PyObject* FromMap(const KpMapObject* map, const KpyFamily* family) {
  PyObject* dict = PyDict_New();
  uint64_t cursor = 0;
  KpAny key, value;
  while (dict != NULL && kp_map_next(map, &cursor, &key, &value) == 1) {
    PyObject* k = KeyToPython(&key, family);
    PyObject* v = k == NULL ? NULL : ItemToPython(&value, family);
    int rc = v == NULL ? -1 : PyDict_SetItem(dict, k, v);
    Py_XDECREF(k);
    Py_XDECREF(v);
    if (rc != 0) {
      Py_DECREF(dict);
      return NULL;
    }
  }
  return dict;
}

static PyObject* FromObject(const KpAny* value, const KpyFamily* family) {
  KpObject* object = value->v.v_obj;
  switch (value->type_index) {
    case KP_TYPE_BYTES: {
      const KpBytes bytes = ((const KpStrObject*)(const void*)object)->bytes;
      return PyBytes_FromStringAndSize(bytes.data, (Py_ssize_t)bytes.size);
    }
    case KP_TYPE_SHAPE:
      return FromShape((const KpShapeObject*)(const void*)object);
    case KP_TYPE_TENSOR:
      /* Only NumPy's arrays, and ours, know that they are read-only. */
      if ((kp_tensor_flags(object) & 1) != 0 && family != kpy_numpy_family()) return kpy_tensor_from_object(object);
      return family != NULL && family->wrap != NULL ? family->wrap(family, object) : kpy_tensor_from_object(object);
    case KP_TYPE_ARRAY:
    case KP_TYPE_LIST:
      return FromSequence((const KpSequenceObject*)(const void*)object, family);
    case KP_TYPE_MAP:
    case KP_TYPE_DICT:
      return FromMap((const KpMapObject*)(const void*)object, family);
    case KP_TYPE_BIG_INT:
      return kpy_from_big_int(value);
    case KP_TYPE_OPAQUE_PY_OBJECT: {
      PyObject* python = (PyObject*)((const KpOpaqueObject*)(const void*)object)->handle;
      Py_INCREF(python);
      return python;
    }
    default:
      return kpy_object_wrap(object);
  }
}

static PyObject* FromContainer(const KpAny* value, const KpyFamily* family) {
  PyObject* result;
  if (Py_EnterRecursiveCall(" while converting a kernel's result")) return NULL;
  result = FromObject(value, family);
  Py_LeaveRecursiveCall();
  return result;
}

PyObject* kpy_to_python(const KpAny* value, const KpyFamily* family) {
  KpBytes text;
  if (KPY_UNLIKELY(value->type_index > KP_TYPE_RVALUE_REF || value->type_index < 0) &&
      kp_any_validate(value, "a value for Python") != 0)
    return kpy_raise_host(NULL, -1);
  switch (value->type_index) {
    case KP_TYPE_NONE:
      Py_RETURN_NONE;
    case KP_TYPE_INT:
      return PyLong_FromLongLong(value->v.v_int);
    case KP_TYPE_BOOL:
      return PyBool_FromLong(value->v.v_int != 0);
    case KP_TYPE_FLOAT:
      return PyFloat_FromDouble(value->v.v_float);
    case KP_TYPE_DTYPE:
      return kpy_dtype_new(value->v.v_dtype);
    case KP_TYPE_DEVICE:
      return kpy_device_new(value->v.v_device);
    case KP_TYPE_OPAQUE_PTR:
      return PyLong_FromVoidPtr(value->v.v_ptr);
    case KP_TYPE_SMALL_BYTES:
      return PyBytes_FromStringAndSize(value->v.v_bytes, (Py_ssize_t)value->small_len);
    case KP_TYPE_BYTE_ARRAY_PTR: {
      const KpBytes* bytes = (const KpBytes*)value->v.v_ptr;
      if (bytes == NULL) return PyErr_Format(PyExc_ValueError, "kernpack: the borrowed bytes are NULL");
      return PyBytes_FromStringAndSize(bytes->data, (Py_ssize_t)bytes->size);
    }
    default:
      break;
  }
  if (kp_any_str(value, &text)) return PyUnicode_DecodeUTF8(text.data, (Py_ssize_t)text.size, "strict");
  if (kp_is_object(value)) return FromContainer(value, family);
  return PyErr_Format(PyExc_TypeError, "kernpack: cannot convert a %s to a Python object",
                      kp_type_name(value->type_index));
}
