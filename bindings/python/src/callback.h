/* Python callables as FUNCTION values. */
#ifndef KERNPACK_PYTHON_CALLBACK_H_
#define KERNPACK_PYTHON_CALLBACK_H_

#include "core.h"

/* *out is an owned FUNCTION that calls `callable` from any thread and carries its exceptions. */
KPY_HIDDEN int kpy_function_from_callable(PyObject* callable, KpAny* out);

#endif /* KERNPACK_PYTHON_CALLBACK_H_ */
