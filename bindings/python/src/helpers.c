/* The rare paths that are better written in Python: kernpack._core_helpers. */
#include <stdarg.h>

#include "guard_torch.h"
#include "hooks.h"
#include "numpy_layout.h"

PyObject* kpy_loaded_module(const char* name) {
  static PyObject* modules; /* sys.modules, strong */
  PyObject* module;
  if (modules == NULL) {
    PyObject* sys = PyImport_ImportModule("sys");
    if (sys != NULL) modules = PyObject_GetAttrString(sys, "modules");
    Py_XDECREF(sys);
    PyErr_Clear();
  }
  module = modules == NULL ? NULL : PyDict_GetItemString(modules, name);
  return module == Py_None ? NULL : module; /* None stands for those that are gone when Python ends */
}

/* Functions, not their module: Python empties modules that are still there when it ends. NULL: it isn't ending. */
static PyObject* g_kept;

int kpy_python_ends(void) { return g_kept != NULL; }

static PyObject* Find(const char* name) {
  PyObject *module, *function;
  if (g_kept != NULL) {
    function = PyDict_GetItemString(g_kept, name);
    if (function == NULL) PyErr_Format(PyExc_RuntimeError, "kernpack: Python is ending: %s is gone", name);
    Py_XINCREF(function);
    return function;
  }
  module = PyImport_ImportModule("kernpack._core_helpers");
  function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
  Py_XDECREF(module);
  return function;
}

/* What a first call needs, while it can still be imported: __del__ may make one when no module is left. */
void kpy_helpers_end(void) {
  PyObject* module = PyImport_ImportModule("kernpack._core_helpers");
  PyObject* all = module == NULL ? NULL : PyModule_GetDict(module);
  PyObject* torch = kpy_loaded_module("torch");
  (void)kpy_numpy_ready();
  if (torch != NULL && kpy_torch_tensor_type() == NULL) (void)kpy_torch_init(torch);
  if (all != NULL) g_kept = PyDict_Copy(all);
  Py_XDECREF(module);
  PyErr_Clear();
}

PyObject* kpy_helper(const char* name, const char* format, ...) {
  PyObject* function = Find(name);
  PyObject *args, *result = NULL;
  va_list list;
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
