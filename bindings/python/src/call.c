/* The hot path: Python arguments to values, checks, results, the kernel. */
#include "call_context.h"
#include "core.h"

/* Everything one typed call works on. */
typedef struct TypedCall {
  KpyCall call;
  KpAny values[KPY_MAX_VALUES]; /* parameters, results, workspace */
  PyObject* destinations[KP_SIG_MAX_RESULTS]; /* given in out=, borrowed; NULL: ours to allocate */
  KpSigFrame frame;
  uint32_t allocated; /* bit i: call.results[i] is ours */
} TypedCall;

static int ConvertArguments(KpyFunction* f, TypedCall* t, PyObject* const* given) {
  KpyCall* call = &t->call;
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    const KpyParam* param = &f->params[i];
    int rc;
    if (given[i] == NULL) {
      t->values[i] = param->default_value;
      continue;
    }
    call->argument = param->c_name;
    call->flags = param->flags;
    call->kind = param->kind;
    call->position = i;
    rc = kpy_convert(call, &f->slots[i], given[i], &t->values[i]);
    if (KPY_UNLIKELY(rc != KPY_OK)) return rc;
  }
  return KPY_OK;
}

static int ConvertDestinations(KpyFunction* f, TypedCall* t) {
  KpyCall* call = &t->call;
  int32_t i;
  call->argument = "out";
  call->flags = KP_PARAM_MUTATED;
  call->kind = KP_PARAM_TENSOR;
  for (i = 0; i < f->num_results; ++i) {
    KpAny* value = &t->values[f->num_params + i];
    int rc = KPY_OK;
    if (t->destinations[i] == NULL) {
      *value = kp_none();
    } else {
      call->position = f->num_params + i;
      rc = kpy_convert(call, &f->slots[f->num_params + i], t->destinations[i], value);
    }
    if (rc != KPY_OK) return rc;
  }
  return KPY_OK;
}

static int AllocateResult(KpyFunction* f, TypedCall* t, const KpyFamily* family, int32_t index) {
  KpyCall* call = &t->call;
  int64_t shape[KP_MAX_NDIM], stride = 1;
  int64_t* dims;
  KpDLTensor prototype;
  int32_t i;
  if (kp_sig_result_prototype(&t->frame, f->name, index, shape, &prototype) != 0) {
    (void)kpy_raise_host(f->name, -1);
    return -1;
  }
  dims = kpy_call_dims(call, 2 * prototype.ndim);
  if (dims == NULL) return -1;
  for (i = prototype.ndim; i-- > 0;) {
    dims[i] = shape[i];
    dims[prototype.ndim + i] = stride;
    if (shape[i] > 1) stride *= shape[i]; /* as the frameworks count where an extent is 0 */
  }
  prototype.shape = dims;
  prototype.strides = dims + prototype.ndim;
  if (family->allocate(call, family, &prototype, index, &t->values[f->num_params + index]) != 0) return -1;
  t->allocated |= 1u << index;
  return 0;
}

static void ReleaseHostObject(void* object) { kp_release((KpObject*)object); }

/* Scratch memory: a fresh tensor of the framework's where kernels get one from there, else of the host's. */
static int AllocateWorkspace(KpyFunction* f, TypedCall* t) {
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
  prototype.device = t->frame.device;
  if (prototype.device.device_type == 0) prototype.device.device_type = KP_DEVICE_CPU;
  prototype.ndim = 1;
  prototype.dtype.code = KP_DTYPE_UINT;
  prototype.dtype.bits = 8;
  prototype.dtype.lanes = 1;
  prototype.shape = &extent;
  prototype.strides = &one;
  if (prototype.device.device_type != KP_DEVICE_CPU && call->family != NULL && call->family->tensor_alloc != NULL) {
    rc = call->family->tensor_alloc((void*)(uintptr_t)call->family, &prototype, out);
  } else {
    rc = kp_tensor_new(&prototype, out);
  }
  if (rc != 0) {
    (void)kpy_raise_host(f->name, rc);
    return -1;
  }
  return kpy_call_keep(call, out->v.v_obj, ReleaseHostObject);
}

/* After a failed check: no parameter takes an opaque handle, and only here is the name of its type known. */
static void NameOpaque(KpyFunction* f, TypedCall* t) {
  static const char* const kExpected[] = {"a tensor", "int", "float", "bool", "dtype", "device", "str"};
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    PyObject* type;
    if (t->values[i].type_index != KP_TYPE_OPAQUE_PY_OBJECT) continue;
    type = PyType_GetName(Py_TYPE((PyObject*)((const KpOpaqueObject*)(const void*)t->values[i].v.v_obj)->handle));
    PyErr_Clear();
    t->call.argument = f->params[i].c_name;
    if (type != NULL) {
      const char* list = f->params[i].flags & KP_PARAM_LIST ? "a list" : kExpected[f->params[i].kind];
      (void)kpy_argument_error(&t->call, PyExc_TypeError, list, type);
    }
    Py_XDECREF(type);
    return;
  }
}

static int CheckAndAllocate(KpyFunction* f, TypedCall* t, int given_out) {
  const KpyFamily* family = t->call.family != NULL ? t->call.family : kpy_own_family();
  int32_t i;
  if (KPY_UNLIKELY(kp_sig_check(f->program, f->name, t->values, given_out ? &t->values[f->num_params] : NULL, 0,
                                &t->frame) != 0)) {
    (void)kpy_raise_host(f->name, -1);
    NameOpaque(f, t);
    return -1;
  }
  for (i = 0; i < f->num_results; ++i) {
    if (given_out && t->destinations[i] != NULL) continue;
    if (AllocateResult(f, t, family, i) != 0) return -1;
  }
  if (KPY_UNLIKELY(f->has_workspace)) return AllocateWorkspace(f, t);
  return 0;
}

/* The result objects in the caller's hands: None, one, or a tuple. */
static PyObject* FinishOne(TypedCall* t, const KpyFamily* family, int32_t index) {
  if (t->allocated & (1u << index)) {
    t->allocated &= ~(1u << index);
    return family->finish(&t->call, family, index);
  }
  Py_INCREF(t->destinations[index]);
  return t->destinations[index];
}

static PyObject* FinishResults(KpyFunction* f, TypedCall* t) {
  const KpyFamily* family = t->call.family != NULL ? t->call.family : kpy_own_family();
  PyObject* tuple;
  int32_t i;
  if (f->num_returned == 0) Py_RETURN_NONE;
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

static void DiscardResults(KpyFunction* f, TypedCall* t) {
  const KpyFamily* family = t->call.family != NULL ? t->call.family : kpy_own_family();
  int32_t i;
  for (i = 0; i < f->num_results; ++i) {
    if (t->allocated & (1u << i)) family->discard(&t->call, i);
  }
}

/* ---- a number given for a tensor of rank 0: the host makes a tensor of it ---- */

static int GivesNumbers(const KpyFunction* f, const TypedCall* t) {
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    const int32_t type = t->values[i].type_index;
    if (!(f->params[i].flags & KP_PARAM_SCALAR_OK)) continue;
    if (type == KP_TYPE_INT || type == KP_TYPE_FLOAT || type == KP_TYPE_BOOL) return 1;
  }
  return 0;
}

static int HostCall(void* self, const KpAny* args, int32_t count, KpAny* result) {
  return kp_call((const KpLoadedFunction*)self, args, count, result);
}

/* Puts what the host allocated where FinishResults looks. */
static PyObject* ResultsOf(KpyFunction* f, TypedCall* t, const KpAny* result) {
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

static PyObject* CallThroughHost(KpyFunction* f, TypedCall* t, PyObject* out) {
  KpAny result = kp_none();
  PyObject* answer = NULL;
  int rc = kpy_run_in_context(&t->call, HostCall, (void*)(uintptr_t)f->loaded, t->values,
                              f->num_params + (out != NULL ? f->num_results : 0), &result);
  if (rc != 0) return kpy_raise_host(f->name, rc);
  answer = out != NULL ? FinishResults(f, t) : ResultsOf(f, t, &result);
  kp_any_release(&result);
  return answer;
}

static PyObject* CallBound(KpyFunction* f, TypedCall* t, PyObject* const* given, PyObject* out) {
  const int32_t count = f->num_params + f->num_results + f->has_workspace;
  PyObject* answer = NULL;
  KpAny result;
  int rc = ConvertArguments(f, t, given);
  if (KPY_LIKELY(rc == KPY_OK) && KPY_UNLIKELY(out != NULL)) {
    if (kpy_bind_destinations(f, out, t->destinations) != 0) return NULL;
    rc = ConvertDestinations(f, t);
  }
  if (KPY_UNLIKELY(rc != KPY_OK)) return NULL;
  if (KPY_UNLIKELY(f->takes_numbers) && GivesNumbers(f, t)) return CallThroughHost(f, t, out);
  if (KPY_LIKELY(CheckAndAllocate(f, t, out != NULL) == 0)) {
    result = kp_none();
    if (KPY_LIKELY(kpy_invoke(&t->call, t->frame.device, 0, t->values, count, &result) == 0))
      answer = FinishResults(f, t);
    kp_any_release(&result);
  }
  if (KPY_UNLIKELY(t->allocated != 0)) DiscardResults(f, t);
  return answer;
}

PyObject* kpy_call_typed(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  KpyFunction* f = (KpyFunction*)self;
  PyObject *bound[KP_SIG_MAX_PARAMS], *out = NULL, *answer;
  PyObject* const* given = args;
  TypedCall t;
  int32_t i;
  kpy_call_begin(&t.call, f);
  t.allocated = 0;
  if (KPY_UNLIKELY(kwnames != NULL || nargs != f->num_params || nargs != f->num_positional)) {
    if (kpy_bind(f, args, nargs, kwnames, bound, &out) != 0) return NULL;
    given = bound;
  }
  /* Held for the call: with the GIL released, other threads may drop or resize what was passed. */
  for (i = 0; i < f->num_params; ++i) Py_XINCREF(given[i]);
  Py_XINCREF(out);
  answer = CallBound(f, &t, given, out);
  if (KPY_UNLIKELY(answer == NULL) && t.call.divert != NULL && !PyErr_Occurred()) {
    answer = kpy_diverted(&t.call, args, nargs, kwnames);
  }
  if (KPY_UNLIKELY(t.call.num_keeps > 0)) kpy_call_end(&t.call);
  for (i = 0; i < f->num_params; ++i) Py_XDECREF(given[i]);
  Py_XDECREF(out);
  return answer;
}
