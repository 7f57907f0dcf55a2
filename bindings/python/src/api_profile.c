/* Profiles, for kernpack.profile(). */
#include "api.h"
#include "errors.h"
#include "values.h"

static const char kCapsule[] = "kernpack.profile";

static KpProfile* ProfileOf(PyObject* capsule) { return (KpProfile*)PyCapsule_GetPointer(capsule, kCapsule); }

static void Free(PyObject* capsule) {
  kp_profile_free(ProfileOf(capsule));
  kpy_follow_watchers();
}

PyObject* kpy_profile_begin(PyObject* module, PyObject* max_events) {
  const unsigned long long events = PyLong_AsUnsignedLongLong(max_events);
  PyObject* capsule;
  KpProfile* profile;
  (void)module;
  if (PyErr_Occurred()) return NULL;
  if (kp_profile_begin(events, &profile) != 0) return kpy_raise_host("profile", -1);
  capsule = PyCapsule_New(profile, kCapsule, Free);
  if (capsule == NULL) kp_profile_free(profile);
  kpy_follow_watchers();
  return capsule;
}

PyObject* kpy_profile_end(PyObject* module, PyObject* capsule) {
  KpProfile* profile = ProfileOf(capsule);
  (void)module;
  if (profile == NULL) return NULL;
  if (kp_profile_end(profile) != 0) return kpy_raise_host("profile", -1);
  kpy_follow_watchers();
  Py_RETURN_NONE;
}

PyObject* kpy_profile_text(PyObject* module, PyObject* args) {
  PyObject *capsule, *text;
  KpProfile* profile;
  unsigned int kind;
  KpAny value;
  (void)module;
  if (!PyArg_ParseTuple(args, "OI:profile_text", &capsule, &kind)) return NULL;
  profile = ProfileOf(capsule);
  if (profile == NULL) return NULL;
  if (kp_profile_text(profile, kind, &value) != 0) return kpy_raise_host("profile", -1);
  text = kpy_to_python(&value, NULL);
  kp_any_release(&value);
  return text;
}
