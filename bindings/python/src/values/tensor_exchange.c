/* kernpack.Tensor's own DLPack exchange table, for consumers such as torch and tvm-ffi. */
#include <kernpack/host/device.h>
#include <string.h>

#include "classes.h"
#include "python/errors.h"
#include "exchange.h"
#include "tensor.h"

static int Allocate(KpDLTensor* prototype, KpDLManagedTensorVersioned** out, void* error_context,
                    void (*set_error)(void* error_context, const char* kind, const char* message)) {
  KpAny tensor, error;
  int rc = kp_tensor_alloc(prototype, kp_bytes(NULL), &tensor);
  if (rc == 0) {
    rc = kp_tensor_to_dlpack_versioned(tensor.v.v_obj, out);
    kp_any_release(&tensor);
  }
  if (rc == 0) return 0;
  kp_error_take("kernpack.Tensor", rc, &error);
  if (error.type_index == KP_TYPE_ERROR) {
    const KpErrorObject* object = (const KpErrorObject*)(const void*)error.v.v_obj;
    set_error(error_context, object->kind.data, object->message.data);
  }
  kp_any_release(&error);
  return -1;
}

static int ManagedFromObject(void* object, KpDLManagedTensorVersioned** out) {
  const KpDLTensor* view = kpy_tensor_view((PyObject*)object);
  KpAny tensor;
  int rc;
  if (view == NULL || kpy_tensor_prepare_export(view, NULL) != 0) return -1;
  if (kpy_tensor_export((PyObject*)object, &tensor) != 0) return -1;
  rc = kp_tensor_to_dlpack_versioned(tensor.v.v_obj, out);
  kp_any_release(&tensor);
  if (rc == 0) return 0;
  (void)kpy_raise_host("kernpack.Tensor", -1);
  return -1;
}

static int ManagedToObject(KpDLManagedTensorVersioned* stolen, void** out_object) {
  KpAny tensor;
  if (stolen->version.major == 1 && kpy_refuse_padded(NULL, stolen) != 0) {
    if (stolen->deleter != NULL) stolen->deleter(stolen);
    return -1;
  }
  if (kp_tensor_from_dlpack_versioned(stolen, &tensor) != 0) {
    if (stolen->deleter != NULL) stolen->deleter(stolen);
    (void)kpy_raise_host("kernpack.Tensor", -1);
    return -1;
  }
  *out_object = kpy_tensor_from_object(tensor.v.v_obj);
  kp_any_release(&tensor);
  return *out_object == NULL ? -1 : 0;
}

static int ViewFromObject(void* object, KpDLTensor* out) {
  if (kpy_tensor_object((PyObject*)object) == NULL) return -1;
  if (((KpyTensor*)object)->read_only) {
    PyErr_SetString(PyExc_BufferError,
                    "kernpack.Tensor: this one is read-only, which a borrowed DLPack view cannot say; pass a copy, or "
                    "take it by __dlpack__(max_version=(1, 0))");
    return -1;
  }
  *out = *kpy_tensor_view((PyObject*)object);
  return 0;
}

static int CurrentWorkStream(int32_t device_type, int32_t device_id, void** out) {
  KpDLDevice device;
  device.device_type = device_type;
  device.device_id = device_id;
  if (kp_host()->current_stream(kp_host(), device, out) == 0) return 0;
  kp_error_clear(); /* outside a call there is none: the default stream */
  *out = NULL;
  return 0;
}

PyObject* kpy_tensor_exchange_capsule(void) {
  static KpyExchangeApi api = {{{1, 3}, NULL},  Allocate,       ManagedFromObject,
                               ManagedToObject, ViewFromObject, CurrentWorkStream};
  return PyCapsule_New(&api, KPY_EXCHANGE_CAPSULE, NULL);
}
