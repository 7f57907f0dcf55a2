/* Errors between Python and the host. */
#ifndef KERNPACK_PYTHON_PYTHON_ERRORS_H_
#define KERNPACK_PYTHON_PYTHON_ERRORS_H_

#include "base.h"

/* errors.c */
KPY_HIDDEN PyObject* kpy_raise_host(const char* who, int rc); /* the host's pending error as a Python one; NULL */
KPY_HIDDEN int kpy_raise_from_python(void); /* the Python exception in flight as the host's error; -1 */
KPY_HIDDEN int kpy_argument_error(KpyCall* call, PyObject* type, const char* expected, PyObject* got);
KPY_HIDDEN int kpy_name_argument(KpyCall* call); /* puts function and argument before the error in flight; KPY_ERROR */
KPY_HIDDEN int kpy_error_register(KpBytes kind, PyObject* type);
KPY_HIDDEN PyObject* kpy_error_class(KpBytes kind); /* None where none is registered; a new reference */
KPY_HIDDEN int kpy_errors_init(void);

/* KPY_ERROR, of an argument that may be written to. */
KPY_HIDDEN int kpy_refuse_read_only(const KpyCall* call);
/* KPY_ERROR if elements below one byte take a byte each, as DLPack's flag says: functions expect packed ones. Of no call, NULL. */
KPY_HIDDEN int kpy_refuse_padded(const KpyCall* call, const KpDLManagedTensorVersioned* managed);

#endif /* KERNPACK_PYTHON_PYTHON_ERRORS_H_ */
