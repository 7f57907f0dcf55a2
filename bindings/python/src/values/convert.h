/* How Python objects are read as values. */
#ifndef KERNPACK_PYTHON_VALUES_CONVERT_H_
#define KERNPACK_PYTHON_VALUES_CONVERT_H_

#include "python/base.h"

/* Results of a converter. DIVERT: this call belongs to a framework's own path (autograd, tracing); see hooks.c. */
enum { KPY_OK = 0, KPY_ERROR = -1, KPY_DIVERT = 1 };

/* Views `object` as a value. What it borrows stays valid until the call ends (kpy_call_keep_* see to that). */
typedef int (*KpyConvert)(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);

/* How one Python type is read where one parameter is given: found once, then compared by type pointer only. */
struct KpySlot {
  PyTypeObject* type; /* strong; NULL: empty */
  KpyConvert convert;
  const KpyFamily* family; /* NULL: no tensor */
  const void* data; /* the converter's own */
};

enum { KPY_SLOT_WAYS = 2, KPY_MAX_VALUES = KP_SIG_MAX_PARAMS + KP_SIG_MAX_RESULTS + 1, KPY_INLINE_VALUES = 16 };

struct KpySlots {
  KpySlot way[KPY_SLOT_WAYS];
};

/* resolve.c */
KPY_HIDDEN const KpySlot* kpy_resolve(KpyCall* call, KpySlots* slots, PyObject* object);
KPY_HIDDEN int kpy_resolve_type(PyObject* object, uint32_t kind, KpySlot* out);

static inline int kpy_convert(KpyCall* call, KpySlots* slots, PyObject* object, KpAny* out) {
  PyTypeObject* type = Py_TYPE(object);
  const KpySlot* slot = &slots->way[0];
  if (KPY_UNLIKELY(slot->type != type)) {
    slot = &slots->way[1];
    if (slot->type != type) {
      slot = kpy_resolve(call, slots, object);
      if (slot == NULL) return KPY_ERROR;
    }
  }
  return slot->convert(call, slot, object, out);
}

/* convert_scalar.c, convert_text.c, convert_kind.c, convert_container.c, convert_numpy.c, convert_exchange.c,
 * convert_dlpack.c, tensor.c: each says what its types are. 1: it knows the type; 0: not mine; -1: error. */
KPY_HIDDEN int kpy_resolve_scalar(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_text(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_kind(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_container(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_numpy(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_exchange(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_buffer(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_jax(PyObject* object, uint32_t kind, KpySlot* out);
KPY_HIDDEN int kpy_resolve_dlpack(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_convert_dlpack(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);
KPY_HIDDEN int kpy_resolve_tensor(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_handle(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_object(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_traced(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_resolve_torch_symbol(PyObject* object, KpySlot* out);
KPY_HIDDEN int kpy_convert_opaque(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);
KPY_HIDDEN int kpy_convert_callable(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out);

#endif /* KERNPACK_PYTHON_VALUES_CONVERT_H_ */
