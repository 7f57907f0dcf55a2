/* The last step of a call: the context, the GIL, the function pointer. */
#ifndef KERNPACK_PYTHON_CALL_CONTEXT_H_
#define KERNPACK_PYTHON_CALL_CONTEXT_H_

#include "core.h"

/* Runs the variant for `device` (device_type 0: CPU). 0, or -1 with a Python exception set. */
KPY_HIDDEN int kpy_invoke(KpyCall* call, KpDLDevice device, const KpAny* values, int32_t count, KpAny* result);

#endif /* KERNPACK_PYTHON_CALL_CONTEXT_H_ */
