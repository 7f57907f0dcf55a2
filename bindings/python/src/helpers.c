/* The rare paths that are better written in Python: kernpack._core_helpers. */
#include <stdarg.h>

#include "hooks.h"

PyObject* kpy_loaded_module(const char* name) {
  static PyObject* modules; /* sys.modules, strong */
  if (modules == NULL) {
    PyObject* sys = PyImport_ImportModule("sys");
    if (sys != NULL) modules = PyObject_GetAttrString(sys, "modules");
    Py_XDECREF(sys);
    PyErr_Clear();
  }
  return modules == NULL ? NULL : PyDict_GetItemString(modules, name);
}

PyObject* kpy_helper(const char* name, const char* format, ...) {
  PyObject* module = PyImport_ImportModule("kernpack._core_helpers");
  PyObject *function, *args, *result = NULL;
  va_list list;
  if (module == NULL) return NULL;
  function = PyObject_GetAttrString(module, name);
  Py_DECREF(module);
  if (function == NULL) return NULL;
  if (format == NULL) {
    args = PyTuple_New(0);
  } else {
    va_start(list, format);
    args = Py_VaBuildValue(format, list);
    va_end(list);
    if (args != NULL && !PyTuple_Check(args)) {
      PyObject* one = args;
      args = PyTuple_New(1);
      if (args != NULL) PyTuple_SetItem(args, 0, one);
    }
  }
  if (args != NULL) result = PyObject_CallObject(function, args);
  Py_XDECREF(args);
  Py_DECREF(function);
  return result;
}
