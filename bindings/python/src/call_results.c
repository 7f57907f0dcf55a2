/* Results of a typed call: their shapes, their memory in the caller's framework, and how they are handed out. */
#include <kernpack/host/device.h>

#include "call_typed.h"

static int PlanResult(KpyFunction* f, KpyTypedCall* t, int32_t index) {
  KpDLTensor* prototype = &t->prototypes[index];
  int64_t shape[KP_MAX_NDIM], stride = 1;
  int64_t* dims;
  int32_t i;
  if (kp_sig_result_prototype(&t->frame, f->name, index, shape, prototype) != 0) {
    (void)kpy_raise_host(f->name, -1);
    return -1;
  }
  dims = kpy_call_dims(&t->call, 2 * prototype->ndim);
  if (dims == NULL) return -1;
  for (i = prototype->ndim; i-- > 0;) {
    dims[i] = shape[i];
    dims[prototype->ndim + i] = stride;
    if (shape[i] > 1) stride *= shape[i]; /* as the frameworks count where an extent is 0 */
  }
  prototype->shape = dims;
  prototype->strides = dims + prototype->ndim;
  return 0;
}

int kpy_plan_results(KpyFunction* f, KpyTypedCall* t, int given_out) {
  int32_t i;
  for (i = 0; i < f->num_results; ++i) {
    if (given_out && t->destinations[i] != NULL) continue;
    if (PlanResult(f, t, i) != 0) return -1;
  }
  return 0;
}

int kpy_allocate_results(KpyFunction* f, KpyTypedCall* t, int given_out) {
  const KpyFamily* family = kpy_receiver(t);
  int32_t i;
  for (i = 0; i < f->num_results; ++i) {
    if (given_out && t->destinations[i] != NULL) continue;
    if (family->allocate(&t->call, family, &t->prototypes[i], i, &t->values[f->num_params + i]) != 0) return -1;
    t->allocated |= 1u << i;
  }
  return 0;
}

static void ReleaseHostObject(void* object) { kp_release((KpObject*)object); }

/* Scratch memory: a fresh tensor of the framework's where kernels get one from there, else of the host's. */
int kpy_allocate_workspace(KpyFunction* f, KpyTypedCall* t) {
  KpyCall* call = &t->call;
  KpAny* out = &t->values[f->num_params + f->num_results];
  KpDLTensor prototype = {0};
  uint64_t bytes;
  int64_t extent, one = 1;
  int rc;
  if (kp_sig_workspace_bytes(&t->frame, f->name, &bytes) != 0) {
    (void)kpy_raise_host(f->name, -1);
    return -1;
  }
  extent = (int64_t)bytes;
  prototype.device = t->device;
  if (prototype.device.device_type == 0) prototype.device.device_type = KP_DEVICE_CPU;
  prototype.ndim = 1;
  prototype.dtype.code = KP_DTYPE_UINT;
  prototype.dtype.bits = 8;
  prototype.dtype.lanes = 1;
  prototype.shape = &extent;
  prototype.strides = &one;
  if (prototype.device.device_type != KP_DEVICE_CPU && call->family != NULL && call->family->tensor_alloc != NULL) {
    rc = call->family->tensor_alloc((void*)(uintptr_t)call->family, &prototype, out);
  } else if (prototype.device.device_type != KP_DEVICE_CPU) {
    rc = kp_workspace_tensor(prototype.device, bytes, out);
  } else {
    rc = kp_tensor_new(&prototype, out);
  }
  if (rc != 0) {
    (void)kpy_raise_host(f->name, rc);
    return -1;
  }
  return kpy_call_keep(call, out->v.v_obj, ReleaseHostObject);
}

static PyObject* FinishOne(KpyTypedCall* t, const KpyFamily* family, int32_t index) {
  if (t->allocated & (1u << index)) {
    t->allocated &= ~(1u << index);
    return family->finish(&t->call, family, index);
  }
  Py_INCREF(t->destinations[index]);
  return t->destinations[index];
}

PyObject* kpy_finish_results(KpyFunction* f, KpyTypedCall* t) {
  const KpyFamily* family = kpy_receiver(t);
  PyObject* tuple;
  int32_t i;
  if (f->num_returned == 1) return FinishOne(t, family, f->returned[0]);
  tuple = PyTuple_New(f->num_returned);
  for (i = 0; tuple != NULL && i < f->num_returned; ++i) {
    PyObject* one = FinishOne(t, family, f->returned[i]);
    if (one == NULL || PyTuple_SetItem(tuple, i, one) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

PyObject* kpy_host_results(KpyFunction* f, KpyTypedCall* t, const KpAny* result) {
  const KpSequenceObject* several = (const KpSequenceObject*)(const void*)result->v.v_obj;
  PyObject* tuple;
  int32_t i;
  if (f->num_returned == 0) Py_RETURN_NONE;
  if (f->num_results == 1) return kpy_to_python(result, t->call.family);
  if (f->num_returned == 1) return kpy_to_python(&several->data[f->returned[0]], t->call.family);
  tuple = PyTuple_New(f->num_returned);
  for (i = 0; tuple != NULL && i < f->num_returned; ++i) {
    PyObject* one = kpy_to_python(&several->data[f->returned[i]], t->call.family);
    if (one == NULL || PyTuple_SetItem(tuple, i, one) != 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  return tuple;
}

void kpy_discard_results(KpyFunction* f, KpyTypedCall* t) {
  const KpyFamily* family = kpy_receiver(t);
  int32_t i;
  for (i = 0; i < f->num_results; ++i) {
    if (t->allocated & (1u << i)) family->discard(&t->call, i);
  }
}
