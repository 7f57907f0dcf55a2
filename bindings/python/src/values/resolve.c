/* Finds, once per parameter and Python type, how objects of that type are read. */
#include "call/frame.h"

int kpy_resolve_type(PyObject* object, uint32_t kind, KpySlot* out) {
  int found;
  out->type = Py_TYPE(object);
  out->convert = NULL;
  out->family = NULL;
  out->data = NULL;
#define KPY_TRY(expression) \
  found = (expression);     \
  if (found != 0) return found
  KPY_TRY(kpy_resolve_torch_symbol(object, out)); /* first: it answers to every name */
  KPY_TRY(kpy_resolve_kind(object, kind, out));
  KPY_TRY(kpy_resolve_scalar(object, kind, out));
  KPY_TRY(kpy_resolve_text(object, out));
  KPY_TRY(kpy_resolve_tensor(object, out));
  KPY_TRY(kpy_resolve_numpy(object, out));
  KPY_TRY(kpy_resolve_exchange(object, out));
  KPY_TRY(kpy_resolve_handle(object, out));
  KPY_TRY(kpy_resolve_object(object, out));
  KPY_TRY(kpy_resolve_traced(object, out));
  KPY_TRY(kpy_resolve_jax(object, kind, out));
  KPY_TRY(kpy_resolve_dlpack(object, out));
  KPY_TRY(kpy_resolve_buffer(object, out));
  KPY_TRY(kpy_resolve_container(object, kind, out));
#undef KPY_TRY
  out->convert = kpy_convert_opaque;
  return 1;
}

const KpySlot* kpy_resolve(KpyCall* call, KpySlots* slots, PyObject* object) {
  PyTypeObject* oldest;
  KpySlot found;
  if (kpy_resolve_type(object, call->kind, &found) < 0) return NULL;
  /* The older way goes; a site that alternates between two types keeps both. Types are never freed while cached. */
  Py_INCREF((PyObject*)found.type);
  while ((oldest = slots->way[1].type) !=
         NULL) { /* its end may run Python, which may call this function and fill it again */
    slots->way[1].type = NULL;
    Py_DECREF((PyObject*)oldest);
  }
  slots->way[1] = slots->way[0];
  slots->way[0] = found;
  return &slots->way[0];
}
