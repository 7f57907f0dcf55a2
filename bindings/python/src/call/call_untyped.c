/* Functions without a signature: positional values in, one value out. */
#include <kernpack/call_device.h>

#include "call_numbers.h"
#include "python/errors.h"
#include "frame.h"
#include "python/hooks.h"
#include "locals.h"
#include "values/values.h"

static int ConvertAll(KpyFunction* f, KpySlots* slots, KpyCall* call, PyObject* const* args, Py_ssize_t nargs,
                      KpAny* values) {
  static const char* const kPositions[KPY_INLINE_VALUES + 1] = {
      "argument 0",  "argument 1",  "argument 2",  "argument 3",  "argument 4",          "argument 5",
      "argument 6",  "argument 7",  "argument 8",  "argument 9",  "argument 10",         "argument 11",
      "argument 12", "argument 13", "argument 14", "argument 15", "an argument after 15"};
  Py_ssize_t i;
  call->kind = KPY_KIND_ANY;
  for (i = 0; i < nargs; ++i) {
    int rc;
    call->argument = kPositions[i < KPY_INLINE_VALUES ? i : KPY_INLINE_VALUES];
    call->flags = KP_PARAM_MUTATED; /* no contract says that it only reads */
    call->position = (int32_t)i;
    call->own_tensors = i >= 64 || (int)((f->owned_tensors >> i) & 1);
    if (i < KPY_INLINE_VALUES) {
      rc = kpy_convert(call, &slots[i], args[i], &values[i]);
    } else {
      KpySlot slot;
      if (kpy_resolve_type(args[i], KPY_KIND_ANY, &slot) < 0) return KPY_ERROR;
      rc = slot.convert(call, &slot, args[i], &values[i]);
    }
    if (KPY_UNLIKELY(rc != KPY_OK)) return rc;
  }
  return KPY_OK;
}

PyObject* kpy_take_result(const KpyFunction* f, KpAny* result, const KpyFamily* family) {
  PyObject* answer;
  if (KPY_UNLIKELY(result->type_index >= KP_TYPE_DLTENSOR_PTR && result->type_index <= KP_TYPE_RVALUE_REF)) {
    return PyErr_Format(PyExc_TypeError, "%s: returned a %s, which borrows memory; return an owned value", f->name,
                        kp_type_name(result->type_index));
  }
  if (KPY_UNLIKELY(result->type_index > KP_TYPE_RVALUE_REF || result->type_index < 0) &&
      kp_any_validate(result, f->name) != 0) {
    return kpy_raise_host(f->name, -1); /* and let alone: nobody knows what it is */
  }
  answer = kpy_to_python(result, family);
  kp_any_release(result);
  return answer;
}

static PyObject* CallConverted(KpyFunction* f, KpyCall* call, PyObject* const* args, Py_ssize_t nargs, KpAny* values) {
  const KpyLocal* local = kpy_local(f);
  KpAny result = kp_none();
  if (KPY_UNLIKELY(local == NULL) || KPY_UNLIKELY(ConvertAll(f, local->slots, call, args, nargs, values) != KPY_OK))
    return NULL;
  if (KPY_UNLIKELY(kpy_invoke(call, kp_call_device(values, nargs), 1, values, (int32_t)nargs, &result) != 0))
    return NULL;
  if (KPY_LIKELY(result.type_index == KP_TYPE_NONE)) Py_RETURN_NONE;
  return kpy_take_result(f, &result, call->family);
}

PyObject* kpy_call_untyped(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  KpAny inline_values[KPY_INLINE_VALUES];
  KpAny* values = inline_values;
  PyObject* answer;
  KpyCall call;
  Py_ssize_t i;
  if (KPY_UNLIKELY(kwnames != NULL && PyTuple_Size(kwnames) > 0)) {
    return PyErr_Format(PyExc_TypeError, "%s() takes no keyword arguments: it has no signature", f->name);
  }
  kpy_call_begin(&call, f);
  if (KPY_UNLIKELY(nargs > KPY_INLINE_VALUES)) {
    values = (KpAny*)PyMem_Malloc((size_t)nargs * sizeof(KpAny));
    if (values == NULL) return PyErr_NoMemory();
  }
  for (i = 0; i < nargs; ++i) Py_INCREF(args[i]);
  answer = CallConverted(f, &call, args, nargs, values);
  if (KPY_UNLIKELY(answer == NULL) && call.divert != NULL && !PyErr_Occurred()) {
    answer = kpy_diverted(&call, args, nargs, kwnames);
  }
  if (KPY_UNLIKELY(call.num_keeps > 0)) kpy_call_end(&call);
  for (i = 0; i < nargs; ++i) Py_DECREF(args[i]);
  if (KPY_UNLIKELY(values != inline_values)) PyMem_Free(values);
  return answer;
}
