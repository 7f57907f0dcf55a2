/* list, tuple and dict become Array and Map; callables become Function; whatever else is an opaque handle. */
#include "callback.h"
#include "python/errors.h"
#include "call/frame.h"
#include "values.h"

static int HostError(KpyCall* call) {
  (void)kpy_raise_host(call->function ? call->function->name : NULL, -1);
  return KPY_ERROR;
}

/* One item. The kind is the parameter's, so that a list of dtypes takes names. */
static int ConvertItem(KpyCall* call, KpySlots* last, PyObject* item, KpAny* out) {
  return kpy_convert(call, last, item, out);
}

static void ForgetSlots(KpySlots* slots) {
  int i;
  for (i = 0; i < KPY_SLOT_WAYS; ++i) Py_XDECREF((PyObject*)slots->way[i].type);
}

/* Converts every item of `tuple` (borrowed) into fresh memory of the call. NULL: rc says why. */
static KpAny* ConvertItems(KpyCall* call, PyObject* tuple, Py_ssize_t count, int* rc) {
  KpAny* values = (KpAny*)PyMem_Malloc(((size_t)count + 1) * sizeof(KpAny));
  KpySlots slots = {{{0}}};
  int32_t own = call->own_tensors;
  Py_ssize_t i;
  *rc = KPY_ERROR;
  if (values == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  if (kpy_call_keep(call, values, PyMem_Free) != 0) return NULL;
  call->own_tensors = 1; /* an Array owns its items */
  *rc = KPY_OK;
  for (i = 0; i < count && *rc == KPY_OK; ++i) {
    PyObject* item = PyTuple_GetItem(tuple, i);
    *rc = item == NULL ? KPY_ERROR : ConvertItem(call, &slots, item, &values[i]);
  }
  call->own_tensors = own;
  ForgetSlots(&slots);
  return *rc == KPY_OK ? values : NULL;
}

static int ConvertSequence(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  PyObject* tuple = PySequence_Tuple(object); /* a snapshot: converting an item may run Python that changes the list */
  Py_ssize_t count;
  KpAny* values;
  int rc;
  (void)slot;
  if (tuple == NULL || kpy_call_keep_object(call, tuple) != 0) return KPY_ERROR;
  count = PyTuple_Size(tuple);
  if (Py_EnterRecursiveCall(" while converting a list for a kernel")) return KPY_ERROR;
  values = ConvertItems(call, tuple, count, &rc);
  Py_LeaveRecursiveCall();
  if (values == NULL) return rc;
  if (kp_array_new(values, (size_t)count, out) != 0) return HostError(call);
  return kpy_call_keep_any(call, out);
}

static int ConvertDict(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  PyObject* items = PyDict_Items(object);
  PyObject* flat;
  Py_ssize_t i, pairs;
  KpAny* values;
  int rc;
  (void)slot;
  if (items == NULL) return KPY_ERROR;
  pairs = PyList_Size(items);
  flat = PyTuple_New(2 * pairs);
  for (i = 0; flat != NULL && i < 2 * pairs; ++i) {
    PyObject* part = PyTuple_GetItem(PyList_GetItem(items, i / 2), i % 2);
    Py_INCREF(part);
    PyTuple_SetItem(flat, i, part);
  }
  Py_DECREF(items);
  if (flat == NULL || kpy_call_keep_object(call, flat) != 0) return KPY_ERROR;
  if (Py_EnterRecursiveCall(" while converting a dict for a kernel")) return KPY_ERROR;
  values = ConvertItems(call, flat, 2 * pairs, &rc);
  Py_LeaveRecursiveCall();
  if (values == NULL) return rc;
  if (kp_map_new(values, (size_t)pairs, out) != 0) return HostError(call);
  return kpy_call_keep_any(call, out);
}

int kpy_convert_callable(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot;
  if (kpy_function_from_callable(object, out) != 0) return KPY_ERROR;
  return kpy_call_keep_any(call, out);
}

int kpy_convert_opaque(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  (void)slot;
  Py_INCREF(object);
  if (kp_opaque_new(object, KP_TYPE_OPAQUE_PY_OBJECT, kpy_release_object_any_thread, out) != 0) {
    Py_DECREF(object);
    return HostError(call);
  }
  return kpy_call_keep_any(call, out);
}

int kpy_resolve_container(PyObject* object, uint32_t kind, KpySlot* out) {
  if (PyList_Check(object) || PyTuple_Check(object)) {
    out->convert = ConvertSequence;
  } else if (PyDict_Check(object)) {
    out->convert = ConvertDict;
  } else if (kind == KPY_KIND_ANY && PyCallable_Check(object)) {
    out->convert = kpy_convert_callable;
  } else {
    return 0;
  }
  return 1;
}

int kpy_to_any(PyObject* object, const char* what, KpAny* out) { return kpy_to_any_for(object, what, 0, out); }

int kpy_to_any_for(PyObject* object, const char* what, uint32_t flags, KpAny* out) {
  KpyCall call;
  KpySlots slots = {{{0}}};
  KpAny borrowed;
  int rc;
  kpy_call_begin(&call, NULL);
  call.argument = what;
  call.flags = flags;
  call.kind = KPY_KIND_ANY;
  call.own_tensors = 1;
  rc = kpy_convert(&call, &slots, object, &borrowed);
  if (rc == KPY_DIVERT) {
    PyErr_Format(PyExc_TypeError, "kernpack: %s: %s", what, call.divert);
  } else if (rc == KPY_OK && kp_any_own(&borrowed, out) != 0) {
    rc = HostError(&call);
  }
  ForgetSlots(&slots);
  kpy_call_end(&call);
  return rc == KPY_OK ? 0 : -1;
}
