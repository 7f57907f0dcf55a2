/* How calls enter a function. */
#ifndef KERNPACK_PYTHON_CALL_CALL_ENTRY_H_
#define KERNPACK_PYTHON_CALL_CALL_ENTRY_H_

#include "python/base.h"

/* The function that Python calls; `self` is the KpyFunction. */
KPY_HIDDEN PyObject* kpy_call(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
/* After a change of on_cpu or has_jax_programs; the caller holds the lock of threads.h. */
KPY_HIDDEN void kpy_choose_entry(KpyFunction* f);

#endif /* KERNPACK_PYTHON_CALL_CALL_ENTRY_H_ */
