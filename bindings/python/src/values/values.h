/* Values and Python objects: one as the other, and who keeps what a value borrows. */
#ifndef KERNPACK_PYTHON_VALUES_VALUES_H_
#define KERNPACK_PYTHON_VALUES_VALUES_H_

#include "python/base.h"

/* to_python.c: a new reference; `value` is borrowed. `family` (nullable) receives tensors. */
KPY_HIDDEN PyObject* kpy_to_python(const KpAny* value, const KpyFamily* family);

/* big_int.c: ints outside 64 bits. */
KPY_HIDDEN PyObject* kpy_from_big_int(const KpAny* value);
KPY_HIDDEN int kpy_to_big_int(PyObject* object, KpAny* out); /* an owned value; -1: with OverflowError, there is none */

/* An owned host value from any Python object, outside a call (callback results, global functions); errors speak of `what`. */
KPY_HIDDEN int kpy_to_any(PyObject* object, const char* what, KpAny* out);
/* For a parameter with those flags, KP_PARAM_*. */
KPY_HIDDEN int kpy_to_any_for(PyObject* object, const char* what, uint32_t flags, KpAny* out);

/* own.c: gives the value a tensor view ended up as: the view itself, or an owning TENSOR when the call wants those, which keeps
 * `object` alive and is read-only if that is. */
KPY_HIDDEN int kpy_emit_tensor(KpyCall* call, KpDLTensor* view, PyObject* object, int read_only, KpAny* out);
KPY_HIDDEN void kpy_release_object(void* object); /* Py_DECREF */
KPY_HIDDEN void kpy_release_object_any_thread(void* object); /* takes the GIL; leaks after interpreter exit */

#endif /* KERNPACK_PYTHON_VALUES_VALUES_H_ */
