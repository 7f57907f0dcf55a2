/* How calls enter a function; and the compiled programs that eager JAX calls of it go straight to. */
#ifndef KERNPACK_PYTHON_CALL_CALL_ENTRY_H_
#define KERNPACK_PYTHON_CALL_CALL_ENTRY_H_

#include "python/base.h"

/* The function that Python calls; `self` is the KpyFunction. */
KPY_HIDDEN PyObject* kpy_call(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
/* After a change of on_cpu, torch_whole or has_jax_programs; the caller holds the lock of threads.h. */
KPY_HIDDEN void kpy_choose_entry(KpyFunction* f);

/* By a compiled program: makes the call if one like it was made before: 1, and *answer is a new reference or NULL with an error;
 * else 0. */
KPY_HIDDEN int kpy_jax_call(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                            PyObject** answer);
KPY_HIDDEN int kpy_jax_init(void);

#endif /* KERNPACK_PYTHON_CALL_CALL_ENTRY_H_ */
