/* Profiles, for kernpack.profile(). */
#include "api.h"

static void Free(PyObject* capsule) {
  kp_profile_free((KpProfile*)PyCapsule_GetPointer(capsule, KPY_PROFILE_CAPSULE));
  kpy_follow_watchers();
}

PyObject* kpy_api_profile_begin(uint64_t max_events) {
  PyObject* capsule;
  KpProfile* profile;
  if (kp_profile_begin(max_events, &profile) != 0) return NULL;
  capsule = PyCapsule_New(profile, KPY_PROFILE_CAPSULE, Free);
  if (capsule == NULL) kp_profile_free(profile);
  kpy_follow_watchers();
  return capsule;
}

PyObject* kpy_api_profile_end(KpProfile* profile) {
  const int rc = kp_profile_end(profile);
  if (rc == 0) kpy_follow_watchers();
  return kpy_done(rc);
}

PyObject* kpy_api_profile_text(KpProfile* profile, uint32_t kind) {
  KpAny text;
  return kpy_given(kp_profile_text(profile, kind, &text), &text);
}
