/* From a borrowed view to a value: as it is, or wrapped in an owning TENSOR where a function asks for one. */
#include "python/errors.h"
#include "call/frame.h"
#include "values.h"
#include "python/threads.h"

/* When Python ends, the object's memory goes with it. */
void kpy_release_object_any_thread(void* object) { (void)kpy_with_python(kpy_release_object, object); }

int kpy_emit_tensor(KpyCall* call, KpDLTensor* view, PyObject* object, int read_only, KpAny* out) {
  if (KPY_LIKELY(!call->own_tensors)) {
    out->type_index = KP_TYPE_DLTENSOR_PTR;
    out->small_len = 0;
    out->v.v_tensor = view;
    return KPY_OK;
  }
  Py_INCREF(object);
  if (kp_tensor_wrap(view, object, kpy_release_object_any_thread, out) != 0) {
    Py_DECREF(object);
    (void)kpy_raise_host(call->function ? call->function->name : NULL, -1);
    return KPY_ERROR;
  }
  if (read_only) (void)kp_tensor_make_read_only(out->v.v_obj);
  return kpy_call_keep_any(call, out);
}
