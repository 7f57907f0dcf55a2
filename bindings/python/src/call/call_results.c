/* Results of a typed call: their shapes, their memory in the caller's framework, and how they are handed out. */
#include <kernpack/host/device.h>
#include <string.h>

#include "call_typed.h"
#include "python/errors.h"
#include "frame.h"
#include "values/values.h"

static void ReleaseHostObject(void* object) { kp_release((KpObject*)object); }

/* Records dtype, shape and device of a result. It is allocated after all checks of the contract have passed. */
static int PlanResult(void* self, int32_t index, const KpDLTensor* prototype, KpAny* out) {
  KpyTypedCall* t = (KpyTypedCall*)self;
  const size_t bytes = (size_t)prototype->ndim * sizeof(int64_t);
  int64_t* dims = kpy_call_dims(&t->call, 2 * prototype->ndim);
  (void)out;
  if (dims == NULL) return -1;
  t->prototypes[index] = *prototype;
  t->prototypes[index].shape = (int64_t*)memcpy(dims, prototype->shape, bytes);
  t->prototypes[index].strides = (int64_t*)memcpy(dims + prototype->ndim, prototype->strides, bytes);
  return 0;
}

/* A fresh tensor of the framework's where kernels get one from there, else of the host's. */
static int AllocateWorkspace(void* self, const KpDLTensor* prototype, KpAny* out) {
  KpyCall* call = &((KpyTypedCall*)self)->call;
  int rc;
  if (prototype->device.device_type == KP_DEVICE_CPU) {
    rc = kp_tensor_new(prototype, out);
  } else if (call->family != NULL && call->family->tensor_alloc != NULL) {
    rc = call->family->tensor_alloc((void*)(uintptr_t)call->family, prototype, out);
  } else {
    rc = kp_workspace_tensor(prototype->device, (uint64_t)prototype->shape[0], out);
  }
  return rc != 0 ? rc : kpy_call_keep(call, out->v.v_obj, ReleaseHostObject);
}

int kpy_plan_results(KpyFunction* f, KpyTypedCall* t) {
  const KpSigMemory memory = {t, PlanResult, AllocateWorkspace};
  const int rc = kp_sig_lend(&t->frame, f->name, &memory, &t->values[f->num_params]);
  if (rc != 0 && !PyErr_Occurred()) (void)kpy_raise_host(f->name, rc);
  return rc;
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

static PyObject* FinishOne(KpyTypedCall* t, const KpyFamily* family, int32_t index) {
  if (t->allocated & (1u << index)) {
    t->allocated &= ~(1u << index);
    return family->finish(&t->call, family, index);
  }
  Py_INCREF(t->destinations[index]);
  return t->destinations[index];
}

PyObject* kpy_finish_results(KpyFunction* f, KpyTypedCall* t, int32_t count) {
  const KpyFamily* family = kpy_receiver(t);
  PyObject* tuple;
  int32_t i;
  if (count == 1) return FinishOne(t, family, f->returned[0]);
  tuple = PyTuple_New(count);
  for (i = 0; tuple != NULL && i < count; ++i) {
    PyObject* one = FinishOne(t, family, kpy_result_index(f, count, i));
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
