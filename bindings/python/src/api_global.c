/* The process's registry of named functions. */
#include "api.h"
#include "callback.h"
#include "convert.h"
#include "errors.h"
#include "values.h"

static int NameOf(PyObject* object, KpBytes* out) {
  Py_ssize_t size;
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "expected a function name (str), got %R", (PyObject*)Py_TYPE(object));
    return -1;
  }
  out->data = PyUnicode_AsUTF8AndSize(object, &size);
  out->size = (size_t)size;
  return out->data == NULL ? -1 : 0;
}

PyObject* kpy_global_set(PyObject* module, PyObject* args) {
  PyObject *name_object, *callable;
  KpBytes name;
  KpAny function;
  int replace, rc;
  (void)module;
  if (!PyArg_ParseTuple(args, "OOp:global_set", &name_object, &callable, &replace)) return NULL;
  if (NameOf(name_object, &name) != 0 || kpy_to_any(callable, "function", &function) != 0) return NULL;
  if (function.type_index != KP_TYPE_FUNCTION) {
    kp_any_release(&function);
    return PyErr_Format(PyExc_TypeError, "register_func: expected a callable, got %R", (PyObject*)Py_TYPE(callable));
  }
  rc = kp_host()->global_set(kp_host(), name, function.v.v_obj, replace);
  kp_any_release(&function);
  if (rc != 0) return kpy_raise_host("register_func", rc);
  Py_RETURN_NONE;
}

PyObject* kpy_global_get(PyObject* module, PyObject* name_object) {
  PyObject* found;
  KpBytes name;
  KpAny function;
  (void)module;
  if (NameOf(name_object, &name) != 0) return NULL;
  if (kp_host()->global_get(kp_host(), name, &function) != 0) return kpy_raise_host("get_func", -1);
  found = kpy_to_python(&function, NULL);
  kp_any_release(&function);
  return found;
}

PyObject* kpy_global_list(PyObject* module, PyObject* unused) {
  PyObject* list;
  KpAny names;
  (void)module, (void)unused;
  if (kp_global_names(&names) != 0) return kpy_raise_host("list_funcs", -1);
  list = kpy_to_python(&names, NULL);
  kp_any_release(&names);
  return list;
}

PyObject* kpy_global_drop(PyObject* module, PyObject* name_object) {
  KpBytes name;
  (void)module;
  if (NameOf(name_object, &name) != 0) return NULL;
  if (kp_global_remove(name) != 0) return kpy_raise_host("remove_func", -1);
  Py_RETURN_NONE;
}
