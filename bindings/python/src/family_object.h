/* Results that are their framework's own objects from the start, with memory that the kernel writes to. */
#ifndef KERNPACK_PYTHON_FAMILY_OBJECT_H_
#define KERNPACK_PYTHON_FAMILY_OBJECT_H_

#include "core.h"

/* Makes `object` (stolen; NULL with an error set: could not be made) result `index` of the call, and a view of its memory, at
 * `data`, the value. `prototype`: its shape and strides live in the call's frame. 0 or -1. */
KPY_HIDDEN int kpy_hold_object(KpyCall* call, const KpDLTensor* prototype, int32_t index, PyObject* object, void* data,
                               KpAny* out);
/* What a family of such results finishes and discards them with. */
KPY_HIDDEN PyObject* kpy_finish_object(KpyCall* call, const KpyFamily* family, int32_t index);
KPY_HIDDEN void kpy_discard_object(KpyCall* call, int32_t index);

#endif /* KERNPACK_PYTHON_FAMILY_OBJECT_H_ */
