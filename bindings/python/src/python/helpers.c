/* The rare paths that are better written in Python: kernpack._core_helpers. */
#include <stdarg.h>

#include "torch/guard_torch.h"
#include "hooks.h"
#include "values/numpy_layout.h"
#include "threads.h"

/* sys.modules, borrowed: the first dict that was found is kept. */
static PyObject* Modules(void) {
  static PyObject* kept;
  PyObject *sys, *modules = KPY_PUBLISHED(kept);
  if (KPY_LIKELY(modules != NULL)) return modules;
  sys = PyImport_ImportModule("sys");
  modules = sys == NULL ? NULL : PyObject_GetAttrString(sys, "modules");
  Py_XDECREF(sys);
  PyErr_Clear();
  kpy_lock();
  if (kept == NULL) KPY_PUBLISH(kept, modules); /* of several threads that looked, all found this one */
  kpy_unlock();
  return modules;
}

PyObject* kpy_loaded_module(const char* name) {
  PyObject *modules = Modules(), *module = modules == NULL ? NULL : kpy_dict_get_text(modules, name);
  if (module != Py_None) return module;
  Py_DECREF(module); /* None stands for those that are gone when Python ends */
  return NULL;
}

int kpy_is_loaded(const char* name) {
  PyObject* module = kpy_loaded_module(name);
  Py_XDECREF(module);
  return module != NULL;
}

/* Functions, not their module: Python empties modules that are still there when it ends. NULL: it isn't ending. */
static PyObject* g_kept;

int kpy_python_ends(void) { return KPY_PUBLISHED(g_kept) != NULL; }

static PyObject* Find(const char* name) {
  PyObject *module, *function;
  if (kpy_python_ends()) {
    function = kpy_dict_get_text(g_kept, name);
    if (function == NULL) PyErr_Format(PyExc_RuntimeError, "kernpack: Python is ending: %s is gone", name);
    return function;
  }
  module = PyImport_ImportModule("kernpack._core_helpers");
  function = module == NULL ? NULL : PyObject_GetAttrString(module, name);
  Py_XDECREF(module);
  return function;
}

/* Imports the modules that a first call needs while this is still possible: __del__ may make a call when no module is left. */
void kpy_helpers_end(void) {
  PyObject* module = PyImport_ImportModule("kernpack._core_helpers");
  PyObject* all = module == NULL ? NULL : PyModule_GetDict(module);
  PyObject* torch = kpy_loaded_module("torch");
  (void)kpy_numpy_ready();
  if (torch != NULL && kpy_torch_tensor_type() == NULL) (void)kpy_torch_init(torch);
  if (all != NULL) KPY_PUBLISH(g_kept, PyDict_Copy(all));
  Py_XDECREF(module);
  Py_XDECREF(torch);
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
