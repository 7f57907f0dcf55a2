/* Compiled programs of eager JAX calls, by function. */
#ifndef KERNPACK_PYTHON_CALL_JAX_PROGRAMS_H_
#define KERNPACK_PYTHON_CALL_JAX_PROGRAMS_H_

#include "python/base.h"

/* Makes the call if one like it was made before: 1, and *answer is a new reference or NULL with an error; else 0. */
KPY_HIDDEN int kpy_jax_call(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                            PyObject** answer);

KPY_HIDDEN int kpy_jax_init(void);

#endif /* KERNPACK_PYTHON_CALL_JAX_PROGRAMS_H_ */
