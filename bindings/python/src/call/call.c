/* The hot path: Python arguments to values, checks, results, the kernel. */
#include <string.h>

#include "call_context.h"
#include "call_typed.h"
#include "python/errors.h"
#include "frame.h"
#include "python/hooks.h"
#include "locals.h"

static int ConvertArguments(KpyFunction* f, KpyTypedCall* t, PyObject* const* given) {
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
    rc = kpy_convert(call, &t->local->slots[i], given[i], &t->values[i]);
    if (KPY_UNLIKELY(rc != KPY_OK)) return rc;
  }
  return KPY_OK;
}

static int ConvertDestinations(KpyFunction* f, KpyTypedCall* t) {
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
      rc = kpy_convert(call, &t->local->slots[f->num_params + i], t->destinations[i], value);
    }
    if (rc != KPY_OK) return rc;
  }
  return KPY_OK;
}

/* The Python object behind a value, or behind the first such item of a list; NULL: there is none. */
static PyObject* OpaqueIn(const KpAny* value, int depth) {
  if (value->type_index == KP_TYPE_OPAQUE_PY_OBJECT)
    return (PyObject*)((const KpOpaqueObject*)(const void*)value->v.v_obj)->handle;
  if (value->type_index == KP_TYPE_ARRAY && depth == 0) {
    const KpSequenceObject* list = (const KpSequenceObject*)(const void*)value->v.v_obj;
    int64_t i;
    for (i = 0; i < list->size; ++i) {
      PyObject* found = OpaqueIn(&list->data[i], 1);
      if (found != NULL) return found;
    }
  }
  return NULL;
}

/* After a failed check: no parameter takes an opaque handle, and only here is the name of its type known. */
static void NameOpaque(KpyFunction* f, KpyTypedCall* t) {
  static const char* const kExpected[] = {"a tensor", "int", "float", "bool", "dtype", "device", "str"};
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    const int tensor = f->params[i].kind == KP_PARAM_TENSOR;
    const int list = (f->params[i].flags & KP_PARAM_LIST) != 0;
    PyObject* object = OpaqueIn(&t->values[i], 0);
    PyObject* got;
    if (object == NULL) continue;
    PyErr_Clear();
    t->call.argument = f->params[i].c_name;
    got = tensor ? kpy_helper("not_a_tensor", "(O)", object) : PyType_GetName(Py_TYPE(object));
    if (got != NULL) {
      const int alone = t->values[i].type_index == KP_TYPE_OPAQUE_PY_OBJECT;
      const char* expected = !list    ? kExpected[f->params[i].kind]
                             : alone  ? "a list"
                             : tensor ? "a list of tensors"
                                      : "a list of its kind";
      (void)kpy_argument_error(&t->call, PyExc_TypeError, expected, got);
    }
    Py_XDECREF(got);
    return;
  }
}

/* Checks that the call fits the signature, and allocates its results. */
static int CheckAndAllocate(KpyFunction* f, KpyTypedCall* t, int given_out) {
  int32_t i;
  if (t->local->memo == NULL || given_out || !kpy_memo_recall(f, t)) {
    if (KPY_UNLIKELY(kp_sig_check(f->program, f->name, t->values, given_out ? &t->values[f->num_params] : NULL, 0,
                                  &t->frame) != 0)) {
      (void)kpy_raise_host(f->name, -1);
      NameOpaque(f, t);
      return -1;
    }
    t->device = t->frame.device;
    if (kpy_target(f, t->device) == NULL) {
      /* No memory is asked for a call that nothing can run. kpy_invoke asks again; a memo's later calls only there. */
      KpSafeCall function;
      void* self;
      if (kpy_resolve_device(f, t->device, &function, &self) != 0) return -1;
    }
    for (i = 0; !given_out && i < f->num_results; ++i) t->values[f->num_params + i] = kp_none();
    if (kpy_plan_results(f, t) != 0) return -1;
    if (t->local->memo != NULL && !given_out) kpy_memo_note(f, t);
  }
  return f->num_results > 0 ? kpy_allocate_results(f, t, given_out) : 0;
}

/* ---- a number given for a tensor of rank 0: the host makes a tensor of it ---- */

static int GivesNumbers(const KpyFunction* f, const KpyTypedCall* t) {
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

/* `returned`: how many results the caller gets. */
static PyObject* CallThroughHost(KpyFunction* f, KpyTypedCall* t, PyObject* out, int32_t returned) {
  KpAny result = kp_none();
  PyObject* answer = NULL;
  int rc = kpy_run_in_context(&t->call, HostCall, (void*)(uintptr_t)f->loaded, t->values,
                              f->num_params + (out != NULL ? f->num_results : 0), &result);
  if (rc != 0) return kpy_raise_host(f->name, rc);
  answer = out != NULL ? kpy_finish_results(f, t, returned) : kpy_host_results(f, t, &result);
  kp_any_release(&result);
  return answer;
}

/* The place of a result in what the caller wrote: "out", or "out[1]" of several. */
static PyObject* GetPlace(const KpyFunction* f, PyObject* out, int32_t result) {
  const Py_ssize_t given = PyTuple_Check(out) ? PyTuple_Size(out) : PyList_Check(out) ? PyList_Size(out) : -1;
  int32_t i;
  if (given < 0) return PyUnicode_FromString("out");
  for (i = 0; i < given && i < f->num_results; ++i) {
    if (kpy_result_index(f, (int32_t)given, i) == result) return PyUnicode_FromFormat("out[%d]", i);
  }
  return NULL;
}

/* "softmax: probs: expected ..." becomes "softmax: out (probs): expected ...": the caller wrote out=, and may not know the contract's name
 * of the result. */
static void NameDestination(const KpyFunction* f, PyObject* out) {
  PyObject *type, *value, *trace, *text;
  int32_t i;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  text = value == NULL ? NULL : PyObject_Str(value);
  for (i = 0; text != NULL && i < f->num_results; ++i) {
    KpSigResult result;
    PyObject *before, *place, *args = NULL;
    Py_ssize_t size;
    if (kp_sig_result(f->program, i, &result) != 0 || strcmp(result.name, "out") == 0) continue;
    before = PyUnicode_FromFormat("%s: %s: ", f->name, result.name);
    if (before == NULL || PyUnicode_Tailmatch(text, before, 0, PY_SSIZE_T_MAX, -1) != 1) {
      Py_XDECREF(before);
      continue;
    }
    size = PyUnicode_GetLength(before);
    place = GetPlace(f, out, i);
    if (place != NULL) {
      PyObject* rest = PyUnicode_Substring(text, size, PyUnicode_GetLength(text));
      if (rest != NULL)
        args = Py_BuildValue("(N)", PyUnicode_FromFormat("%s: %U (%s): %U", f->name, place, result.name, rest));
      Py_XDECREF(rest);
    }
    if (args != NULL) (void)PyObject_SetAttrString(value, "args", args);
    Py_XDECREF(args);
    Py_XDECREF(place);
    Py_DECREF(before);
    break;
  }
  Py_XDECREF(text);
  PyErr_Clear();
  PyErr_Restore(type, value, trace);
}

static PyObject* CallBound(KpyFunction* f, KpyTypedCall* t, PyObject* const* given, PyObject* out) {
  const int32_t count = f->num_params + f->num_results + f->has_workspace;
  int32_t returned = f->num_returned;
  PyObject* answer = NULL;
  KpAny result;
  int rc = ConvertArguments(f, t, given);
  if (KPY_LIKELY(rc == KPY_OK) && KPY_UNLIKELY(out != NULL)) {
    returned = kpy_bind_destinations(f, out, t->destinations);
    if (returned < 0) return NULL;
    rc = ConvertDestinations(f, t);
  }
  /* No array says whose results are wanted. Where JAX is tracing, it's JAX's. */
  if (KPY_UNLIKELY(t->call.family == NULL) && rc == KPY_OK && f->num_results > 0) rc = kpy_jax_guard_call(&t->call);
  if (KPY_UNLIKELY(rc != KPY_OK)) return NULL;
  if (KPY_UNLIKELY(f->takes_numbers) && GivesNumbers(f, t)) return CallThroughHost(f, t, out, returned);
  if (KPY_LIKELY(CheckAndAllocate(f, t, out != NULL) == 0)) {
    result = kp_none();
    if (KPY_LIKELY(kpy_invoke(&t->call, t->device, 0, t->values, count, &result) == 0)) {
      if (f->num_returned > 0) {
        answer = kpy_finish_results(f, t, returned);
      } else {
        answer = Py_None;
        Py_INCREF(answer);
      }
    }
    if (KPY_UNLIKELY(result.type_index != KP_TYPE_NONE)) kp_any_release(&result);
  }
  if (KPY_UNLIKELY(t->allocated != 0)) kpy_discard_results(f, t);
  return answer;
}

PyObject* kpy_call_typed(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject *bound[KP_SIG_MAX_PARAMS], *out = NULL, *answer;
  PyObject* const* given = args;
  KpyTypedCall t;
  int32_t i;
  kpy_call_begin(&t.call, f);
  t.allocated = 0;
  t.local = kpy_local(f);
  if (KPY_UNLIKELY(t.local == NULL)) return NULL;
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
  if (KPY_UNLIKELY(answer == NULL) && out != NULL && PyErr_ExceptionMatches(PyExc_Exception)) NameDestination(f, out);
  if (KPY_UNLIKELY(t.call.num_keeps > 0)) kpy_call_end(&t.call);
  for (i = 0; i < f->num_params; ++i) Py_XDECREF(given[i]);
  Py_XDECREF(out);
  return answer;
}
