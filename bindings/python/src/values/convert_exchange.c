/* Tensors of types that publish DLPack's C exchange table: read into the call frame, without a capsule. */
#include <string.h>

#include "python/errors.h"
#include "call/frame.h"
#include "torch/guard_torch.h"
#include "python/hooks.h"

static int ReadStream(KpyCall* call, const KpyExchangeApi* api, KpDLDevice device) {
  void* stream = NULL;
  if (device.device_type == KP_DEVICE_CPU) return 0;
  if (api->current_work_stream(device.device_type, device.device_id, &stream) != 0) return -1;
  if (call->has_stream && call->device.device_type == device.device_type &&
      call->device.device_id == device.device_id && call->stream != stream) {
    PyErr_Format(PyExc_ValueError,
                 "%s: %s: its framework's current stream differs from that of the arguments before it", kpy_who(call),
                 kpy_what(call));
    return -1;
  }
  if (!call->has_stream) {
    call->has_stream = 1;
    call->stream = stream;
    call->device = device;
  }
  return 0;
}

/* The producer's arrays may change or go while the kernel runs without the GIL; the frame's do not. */
static int CopyShape(KpyCall* call, KpDLTensor* view) {
  const int32_t n = view->ndim;
  int64_t* dims;
  int32_t i;
  if (KPY_UNLIKELY(n < 0 || n > KP_MAX_NDIM)) {
    PyErr_Format(PyExc_ValueError, "%s: expected at most %d dimensions, got %d", kpy_what(call), KP_MAX_NDIM, n);
    return -1;
  }
  dims = kpy_call_dims(call, 2 * n);
  if (dims == NULL) return -1;
  for (i = 0; i < n; ++i) dims[i] = view->shape[i];
  if (view->strides != NULL) {
    for (i = 0; i < n; ++i) dims[n + i] = view->strides[i];
  } else {
    kp_row_major_strides(n, dims, dims + n);
  }
  view->shape = dims;
  view->strides = dims + n;
  return 0;
}

/* An owning TENSOR, for functions that keep what they get, and where only the flags tell whether it may be written to. */
static int ConvertOwned(KpyCall* call, const KpyExchangeApi* api, PyObject* object, KpAny* out) {
  KpDLManagedTensorVersioned* managed = NULL;
  if (api->managed_from_object(object, &managed) != 0) return KPY_ERROR;
  if ((managed->flags & 1) != 0 && (call->flags & KP_PARAM_MUTATED)) {
    if (managed->deleter != NULL) managed->deleter(managed);
    return kpy_refuse_read_only(call);
  }
  if (kpy_refuse_padded(call, managed) != KPY_OK) {
    if (managed->deleter != NULL) managed->deleter(managed);
    return KPY_ERROR;
  }
  if (kp_tensor_from_dlpack_versioned(managed, out) != 0) {
    if (managed->deleter != NULL) managed->deleter(managed);
    (void)kpy_raise_host(call->function ? call->function->name : NULL, -1);
    return KPY_ERROR;
  }
  return kpy_call_keep_any(call, out);
}

static inline int Finish(KpyCall* call, const KpySlot* slot, const KpyExchangeApi* api, KpDLTensor* view,
                         PyObject* object, KpAny* out) {
  if (KPY_UNLIKELY(view->device.device_type != KP_DEVICE_CPU) && ReadStream(call, api, view->device) != 0)
    return KPY_ERROR;
  if (call->family == NULL) call->family = slot->family;
  if (KPY_UNLIKELY(call->own_tensors)) return ConvertOwned(call, api, object, out);
  if (CopyShape(call, view) != 0) return KPY_ERROR;
  out->type_index = KP_TYPE_DLTENSOR_PTR;
  out->small_len = 0;
  out->v.v_tensor = view;
  return KPY_OK;
}

static int ConvertExchange(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  const KpyExchangeApi* api = slot->family->api;
  KpDLTensor* view = kpy_call_tensor(call);
  if (view == NULL || api->view_from_object(object, view) != 0) return KPY_ERROR;
  if (kp_dltensor_validate(view, kpy_what(call)) != 0) {
    (void)kpy_raise_host(NULL, -1);
    return KPY_ERROR;
  }
  if (call->flags & KP_PARAM_MUTATED) {
    if (view->device.device_type != KP_DEVICE_CPU && ReadStream(call, api, view->device) != 0) return KPY_ERROR;
    if (call->family == NULL) call->family = slot->family;
    return ConvertOwned(call, api, object, out);
  }
  return Finish(call, slot, api, view, object, out);
}

static int ConvertTorch(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  const KpyExchangeApi* api = slot->family->api;
  KpDLTensor* view = kpy_call_tensor(call);
  int rc, plain;
  if (KPY_UNLIKELY(view == NULL)) return KPY_ERROR;
  if (!call->torch_checked && KPY_UNLIKELY((rc = kpy_torch_guard_call(call)) != KPY_OK)) return rc;
  plain = kpy_torch_looks_plain(call, object);
  if (KPY_UNLIKELY(api->view_from_object(object, view) != 0)) {
    PyErr_Clear(); /* functorch levels, sparse and quantised tensors land here */
    return kpy_divert(call, "torch",
                      "it isn't an ordinary dense tensor (it is meta, sparse, quantised or nested, or inside vmap or "
                      "torch.func.grad)");
  }
  if (KPY_UNLIKELY(!plain) || KPY_UNLIKELY(view->data == NULL)) {
    rc = kpy_torch_guard(call, object, view);
    if (rc != KPY_OK) return rc;
  }
  if (KPY_UNLIKELY(!kpy_torch_dtype_is_sure(view)) && kpy_torch_check_dtype(call, object, view) != KPY_OK)
    return KPY_ERROR;
  if (KPY_UNLIKELY(call->flags & KP_PARAM_MUTATED) && kpy_torch_note_write(object) != 0) return KPY_ERROR;
  return Finish(call, slot, api, view, object, out);
}

static int ConvertTorchSubclass(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot, (void)object, (void)out;
  return kpy_divert(
      call, "torch",
      "it is a subclass of torch.Tensor, which may be fake or wrap another; pass x.as_subclass(torch.Tensor) "
      "if its memory is ordinary, or give the function a signature, so that torch can trace it");
}

/* The producer's table, the newest of a major version that we know; NULL when it has none (no error set). */
static const KpyExchangeApi* GetTable(PyTypeObject* type) {
  PyObject* capsule = PyObject_GetAttrString((PyObject*)type, KPY_EXCHANGE_ATTRIBUTE);
  const KpyExchangeHeader* header = NULL;
  if (capsule != NULL && PyCapsule_IsValid(capsule, KPY_EXCHANGE_CAPSULE)) {
    header = (const KpyExchangeHeader*)PyCapsule_GetPointer(capsule, KPY_EXCHANGE_CAPSULE);
  }
  PyErr_Clear();
  Py_XDECREF(capsule); /* the table lives as long as the process */
  while (header != NULL && header->version.major > 1) header = header->previous;
  return (const KpyExchangeApi*)(const void*)header;
}

int kpy_resolve_exchange(PyObject* object, KpySlot* out) {
  PyTypeObject* type = Py_TYPE(object);
  const KpyExchangeApi* api;
  PyObject *torch, *base;
  int is_torch;
  if (PyType_Check(object)) return 0; /* the class, not an instance */
  api = GetTable(type);
  if (api == NULL || api->view_from_object == NULL || api->managed_from_object == NULL) return 0;
  torch = kpy_loaded_module("torch");
  base = (PyObject*)kpy_torch_tensor_type(); /* known from before, also when Python ends and torch is gone */
  Py_XINCREF(base);
  if (base == NULL && torch != NULL) base = PyObject_GetAttrString(torch, "Tensor");
  is_torch = base == NULL ? 0 : PyObject_IsInstance(object, base);
  Py_XDECREF(base);
  if (base == NULL) PyErr_Clear();
  if (is_torch > 0 && kpy_torch_init(torch) != 0) is_torch = -1;
  Py_XDECREF(torch);
  if (is_torch < 0) return -1;
  out->family = is_torch ? kpy_exchange_family(api, kpy_torch_tensor_type(), "torch")
                         : kpy_exchange_family(api, type, "exchange");
  if (out->family == NULL) return -1;
  out->convert = !is_torch ? ConvertExchange : kpy_torch_is_plain(type) ? ConvertTorch : ConvertTorchSubclass;
  return 1;
}
