/* From a borrowed view to a value: as it is, or wrapped in an owning TENSOR where a function asks for one. */
#include "core.h"

void kpy_release_object_any_thread(void* object) {
  PyGILState_STATE state;
  if (!Py_IsInitialized()) return; /* the interpreter is gone, and the object's memory with it */
  state = PyGILState_Ensure();
  Py_DECREF((PyObject*)object);
  PyGILState_Release(state);
}

int kpy_emit_tensor(KpyCall* call, KpDLTensor* view, PyObject* object, KpAny* out) {
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
  return kpy_call_keep_any(call, out);
}
