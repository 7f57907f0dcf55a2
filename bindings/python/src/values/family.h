/* Frameworks as the receivers of results. */
#ifndef KERNPACK_PYTHON_VALUES_FAMILY_H_
#define KERNPACK_PYTHON_VALUES_FAMILY_H_

#include "python/base.h"
#include "exchange.h"

/* A framework as the receiver of results. Immortal. */
struct KpyFamily {
  const char* name;
  /* Makes destination `index` of the call: fills *out (borrowed until the call ends) and call->results[index]. */
  int (*allocate)(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out);
  /* The finished destination as the framework's object; a new reference. */
  PyObject* (*finish)(KpyCall* call, const KpyFamily* family, int32_t index);
  /* Releases a destination that is not handed out. */
  void (*discard)(KpyCall* call, int32_t index);
  /* A TENSOR (borrowed) as the framework's object; a new reference. */
  PyObject* (*wrap)(const KpyFamily* family, KpObject* tensor);
  /* Allocates tensors for kernels (tensor_alloc) during the call; NULL: the host's allocator. Called without the GIL. */
  int (*tensor_alloc)(void* family, const KpDLTensor* prototype, KpAny* out);
  const KpyExchangeApi* api; /* of exchange families */
  PyTypeObject* type; /* strong; of families that know one */
};

KPY_HIDDEN const KpyFamily* kpy_own_family(void);
KPY_HIDDEN const KpyFamily* kpy_numpy_family(void); /* NULL without an error while numpy is not loaded */
/* The one family of this exchange table; NULL on failure. */
KPY_HIDDEN const KpyFamily* kpy_exchange_family(const KpyExchangeApi* api, PyTypeObject* type, const char* name);
/* The family of this array type, which speaks only __dlpack__; NULL on failure. */
KPY_HIDDEN const KpyFamily* kpy_dlpack_family(PyTypeObject* type);
/* Gives `family`, torch's, a shorter way than the exchange table's where the loaded torch has it and it does what is expected. */
KPY_HIDDEN void kpy_torch_family_init(KpyFamily* family);

/* family_object.c: results that are their framework's own objects from the start, with memory that the kernel writes to. */
/* Makes `object` (stolen; NULL with an error set: could not be made) result `index` of the call, and a view of its memory, at
 * `data`, the value. `prototype`: its shape and strides live in the call's frame. 0 or -1. */
KPY_HIDDEN int kpy_hold_object(KpyCall* call, const KpDLTensor* prototype, int32_t index, PyObject* object, void* data,
                               KpAny* out);
/* Finish and discard results of a family of Python objects. */
KPY_HIDDEN PyObject* kpy_finish_object(KpyCall* call, const KpyFamily* family, int32_t index);
KPY_HIDDEN void kpy_discard_object(KpyCall* call, int32_t index);

#endif /* KERNPACK_PYTHON_VALUES_FAMILY_H_ */
