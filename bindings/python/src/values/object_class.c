/* Objects that another extension has classes for: __kernpack_object__() gives the host's object on the way in, and the class
 * registered for a type makes the Python one on the way out. */
#include "api/api.h"
#include "classes.h"
#include "python/errors.h"
#include "call/frame.h"
#include "python/threads.h"

static PyObject* g_classes; /* type index -> callable(kernpack.Object) */

int kpy_object_class_init(void) {
  g_classes = PyDict_New();
  return g_classes == NULL ? -1 : 0;
}

static void ReleaseCapsule(PyObject* capsule) {
  kp_release((KpObject*)PyCapsule_GetPointer(capsule, KPY_OBJECT_CAPSULE));
}

PyObject* kpy_object_capsule(KpObject* object) {
  PyObject* capsule = PyCapsule_New(object, KPY_OBJECT_CAPSULE, ReleaseCapsule);
  if (capsule != NULL) kp_retain(object);
  return capsule;
}

PyObject* kpy_api_object_of(KpObject* object) { return kpy_object_wrap(object); }

static int ConvertObject(KpyCall* call, const KpySlot* slot, PyObject* object, KpAny* out) {
  PyObject* capsule = PyObject_CallMethod(object, "__kernpack_object__", NULL);
  KpObject* body;
  (void)slot;
  if (capsule == NULL || kpy_call_keep_object(call, capsule) != 0) return KPY_ERROR;
  body = (KpObject*)PyCapsule_GetPointer(capsule, KPY_OBJECT_CAPSULE);
  if (body == NULL) return KPY_ERROR;
  out->type_index = body->type_index;
  out->small_len = 0;
  out->v.v_obj = body;
  return KPY_OK;
}

int kpy_resolve_object(PyObject* object, KpySlot* out) {
  if (!PyObject_HasAttrString((PyObject*)Py_TYPE(object), "__kernpack_object__")) return 0;
  out->convert = ConvertObject;
  return 1;
}

PyObject* kpy_api_object_class(KpBytes type_key, PyObject* callable) {
  PyObject* index;
  int32_t type_index;
  int rc;
  if (kp_host()->type_index(kp_host(), type_key, &type_index) != 0) return NULL;
  index = PyLong_FromLong(type_index);
  rc = index == NULL ? -1 : PyDict_SetItem(g_classes, index, callable);
  Py_XDECREF(index);
  return kpy_done(rc);
}

PyObject* kpy_object_wrap(KpObject* object) {
  PyObject* handle = kpy_handle_new(object);
  PyObject* index = handle == NULL ? NULL : PyLong_FromLong(object->type_index);
  PyObject* callable = index == NULL ? NULL : kpy_dict_get(g_classes, index);
  PyObject* made;
  Py_XDECREF(index);
  if (callable == NULL) {
    if (!PyErr_Occurred()) return handle;
    Py_XDECREF(handle);
    return NULL;
  }
  made = PyObject_CallFunctionObjArgs(callable, handle, NULL);
  Py_DECREF(callable);
  Py_DECREF(handle);
  return made;
}
