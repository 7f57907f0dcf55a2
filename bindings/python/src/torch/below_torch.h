/* Calls of a function's operator below autograd, made in C: where the hooks don't tell who watches, torch's dispatcher must see each
 * call, but the operator's kernel at the Autograd key, which is written in Python, costs several times what the call does. */
#ifndef KERNPACK_PYTHON_TORCH_BELOW_TORCH_H_
#define KERNPACK_PYTHON_TORCH_BELOW_TORCH_H_

#include "python/base.h"

/* 1 if the call was made, and *answer is a new reference or NULL with an error; 0: it takes the usual way, and there is no error. Of a
 * function with torch_whole (function.h), by positional and then keyword arguments. */
KPY_HIDDEN int kpy_torch_call_below(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                                    PyObject** answer);

#endif /* KERNPACK_PYTHON_TORCH_BELOW_TORCH_H_ */
