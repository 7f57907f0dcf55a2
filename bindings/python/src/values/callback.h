/* Python callables as FUNCTION values. Between the two is an object that Python's garbage collector sees: it knows the callable,
 * and whether anybody but Python holds the function. */
#ifndef KERNPACK_PYTHON_VALUES_CALLBACK_H_
#define KERNPACK_PYTHON_VALUES_CALLBACK_H_

#include "python/base.h"

/* *out is an owned FUNCTION that calls `callable` from any thread and carries its exceptions. */
KPY_HIDDEN int kpy_function_from_callable(PyObject* callable, KpAny* out);
/* A new reference to what stands behind a FUNCTION of Python's, for a Python object that holds `function` too; NULL: it isn't
 * Python's. kpy_callback_let_go gives it back. */
KPY_HIDDEN PyObject* kpy_callback_share(KpObject* function);
KPY_HIDDEN void kpy_callback_let_go(PyObject* callback);
KPY_HIDDEN int kpy_callback_init(void);

#endif /* KERNPACK_PYTHON_VALUES_CALLBACK_H_ */
