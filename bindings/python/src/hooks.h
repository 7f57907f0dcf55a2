/* What is better written in Python: the frameworks' own paths, and helpers. */
#ifndef KERNPACK_PYTHON_HOOKS_H_
#define KERNPACK_PYTHON_HOOKS_H_

#include "base.h"

/* hooks.c */
KPY_HIDDEN int kpy_divert(KpyCall* call, const char* hook, const char* why);
KPY_HIDDEN PyObject* kpy_diverted(KpyCall* call, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
KPY_HIDDEN PyObject* kpy_hook(const char* name); /* borrowed or NULL, no error set */
KPY_HIDDEN PyObject* kpy_set_hook(PyObject* module, PyObject* args);

/* helpers.c: kernpack._core_helpers, the rare paths that are better written in Python. A new reference. */
KPY_HIDDEN PyObject* kpy_helper(const char* name, const char* format, ...);
/* What a framework's dtype or device object stands for, a new reference; NULL without an error: it is none. The helper names it
 * (None: it is none) and `make` turns the name into ours, once an object: `known` remembers (a dict, made on first use). */
KPY_HIDDEN PyObject* kpy_foreign(PyObject** known, PyObject* object, const char* helper,
                                 PyObject* (*make)(PyObject* name));
KPY_HIDDEN PyObject* kpy_loaded_module(const char* name); /* sys.modules[name]: borrowed; NULL without an error */

#endif /* KERNPACK_PYTHON_HOOKS_H_ */
