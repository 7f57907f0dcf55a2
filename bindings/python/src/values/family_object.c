#include "call/frame.h"

int kpy_hold_object(KpyCall* call, const KpDLTensor* prototype, int32_t index, PyObject* object, void* data,
                    KpAny* out) {
  KpDLTensor* view = object == NULL ? NULL : kpy_call_tensor(call);
  if (view == NULL) {
    Py_XDECREF(object);
    return -1;
  }
  *view = *prototype;
  view->data = data;
  view->byte_offset = 0;
  call->results[index] = object;
  out->type_index = KP_TYPE_DLTENSOR_PTR;
  out->small_len = 0;
  out->v.v_tensor = view;
  return 0;
}

PyObject* kpy_finish_object(KpyCall* call, const KpyFamily* family, int32_t index) {
  (void)family;
  return (PyObject*)call->results[index];
}

void kpy_discard_object(KpyCall* call, int32_t index) { Py_DECREF((PyObject*)call->results[index]); }
