/* Objects with __dlpack__ and no C table: CuPy and its like, anybody's own. */
#include <string.h>

#include "python/errors.h"
#include "call/frame.h"
#include "python/hooks.h"

#define VERSIONED "dltensor_versioned"
#define UNVERSIONED "dltensor"

static int HostError(KpyCall* call) {
  (void)kpy_raise_host(kpy_who(call), -1);
  return kpy_name_argument(call);
}

/* Moves a versioned capsule's tensor out, unless it is read-only where it may be written. */
static int TakeVersioned(KpyCall* call, PyObject* capsule, KpAny* out) {
  KpDLManagedTensorVersioned* managed = (KpDLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, VERSIONED);
  if (managed == NULL) return KPY_ERROR;
  if (managed->version.major != 1) {
    PyErr_Format(PyExc_BufferError, "%s: %s: expected a DLPack 1.x capsule, got version %u.%u; upgrade kernpack",
                 kpy_who(call), kpy_what(call), managed->version.major, managed->version.minor);
    return KPY_ERROR;
  }
  if ((managed->flags & 1) != 0 && (call->flags & KP_PARAM_MUTATED)) return kpy_refuse_read_only(call);
  if (kpy_refuse_padded(call, managed) != KPY_OK) return KPY_ERROR;
  if (kp_tensor_from_dlpack_versioned(managed, out) != 0) return HostError(call);
  (void)PyCapsule_SetName(capsule, "used_" VERSIONED);
  return KPY_OK;
}

static int TakeUnversioned(KpyCall* call, PyObject* capsule, KpAny* out) {
  KpDLManagedTensor* managed = (KpDLManagedTensor*)PyCapsule_GetPointer(capsule, UNVERSIONED);
  if (managed == NULL) return KPY_ERROR;
  if (kp_tensor_from_dlpack(managed, out) != 0) return HostError(call);
  (void)PyCapsule_SetName(capsule, "used_" UNVERSIONED);
  return KPY_OK;
}

/* Asks the producer; the helper offers DLPack 1.3 and falls back for producers of before 1.0. */
static int Import(KpyCall* call, PyObject* object, KpAny* out) {
  /* (capsule, device type, device id, stream or None) */
  PyObject* answer = kpy_helper("export_dlpack", "OssiK", object, kpy_who(call), kpy_what(call), call->has_stream,
                                (unsigned long long)(uintptr_t)call->stream);
  PyObject *capsule, *stream, *type, *value, *trace;
  KpDLDevice device;
  int rc;
  if (answer == NULL) return KPY_ERROR;
  if (!PyArg_ParseTuple(answer, "OiiO", &capsule, &device.device_type, &device.device_id, &stream)) {
    Py_DECREF(answer);
    return KPY_ERROR;
  }
  if (stream != Py_None && !call->has_stream) {
    call->has_stream = 1;
    call->device = device;
    call->stream = PyLong_AsVoidPtr(stream);
  }
  if (PyCapsule_IsValid(capsule, VERSIONED)) {
    rc = TakeVersioned(call, capsule, out);
  } else if (PyCapsule_IsValid(capsule, UNVERSIONED)) {
    rc = TakeUnversioned(call, capsule, out);
  } else {
    PyErr_Format(PyExc_BufferError,
                 "%s: %s: expected an unused DLPack capsule, got one that was consumed already or has another name",
                 kpy_who(call), kpy_what(call));
    rc = KPY_ERROR;
  }
  PyErr_Fetch(&type, &value, &trace); /* the destructor of a capsule that was not taken may be Python */
  Py_DECREF(answer);
  PyErr_Restore(type, value, trace);
  if (rc != KPY_OK) return rc;
  return kpy_call_keep_any(call, out);
}

int kpy_convert_dlpack(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  const KpyFamily* family = slot->family;
  int rc = Import(call, object, out);
  if (rc == KPY_OK && call->family == NULL) call->family = family;
  return rc;
}

int kpy_resolve_dlpack(PyObject* object, KpySlot* out) {
  PyObject* answer;
  if (PyType_Check(object)) return 0;
  answer = PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__dlpack__");
  if (answer == NULL) {
    PyErr_Clear();
    return 0;
  }
  Py_DECREF(answer);
  out->convert = kpy_convert_dlpack;
  out->family = kpy_dlpack_family(Py_TYPE(object));
  return out->family == NULL ? -1 : 1;
}
