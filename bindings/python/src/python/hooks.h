/* Parts that are written in Python: the paths of the frameworks, and helpers. */
#ifndef KERNPACK_PYTHON_PYTHON_HOOKS_H_
#define KERNPACK_PYTHON_PYTHON_HOOKS_H_

#include "base.h"

/* hooks.c */
KPY_HIDDEN int kpy_divert(KpyCall* call, const char* hook, const char* why);
KPY_HIDDEN PyObject* kpy_diverted(KpyCall* call, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
/* convert_jax.c: of a call without an array. KPY_OK; KPY_DIVERT where JAX is tracing; KPY_ERROR. */
KPY_HIDDEN int kpy_jax_guard_call(KpyCall* call);
KPY_HIDDEN int kpy_has_hook(const char* name);
KPY_HIDDEN int kpy_hooks_init(void);
/* Positional arguments as a tuple; keywords as a dict, NULL if there are none. Both are new references, also on error. */
KPY_HIDDEN int kpy_pack_arguments(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** tuple,
                                  PyObject** dict);
/* A sparse, quantized or nested tensor is refused by its argument's name: torch's error would be thousands of characters about its
 * dispatcher. Replaces the error in flight, if there is one; leaves another error as it is. keywords: a dict, or NULL. */
KPY_HIDDEN void kpy_refuse_strange_tensor(const KpyFunction* f, PyObject* tuple, PyObject* keywords);

/* helpers.c: kernpack._core_helpers, the rare paths that are better written in Python. A new reference. */
KPY_HIDDEN PyObject* kpy_helper(const char* name, const char* format, ...);
KPY_HIDDEN int kpy_python_ends(void);
KPY_HIDDEN void kpy_helpers_end(void); /* once, when Python begins to end */
KPY_HIDDEN PyObject* kpy_loaded_module(
    const char* name); /* sys.modules[name], a new reference; NULL without an error */
KPY_HIDDEN int kpy_is_loaded(const char* name);

#endif /* KERNPACK_PYTHON_PYTHON_HOOKS_H_ */
