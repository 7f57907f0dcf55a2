/* Keyed storage from Python: the same values that kernels see. Texts in keys stay borrowed from the arguments. */
#include "api.h"

static KpStorageKey Key(KpBytes module, KpBytes key, uint32_t scope, KpDLDevice device, void* stream) {
  KpStorageKey out = {0};
  out.module = module;
  out.key = key;
  out.scope = scope;
  out.device = device;
  out.stream = stream;
  return out;
}

PyObject* kpy_api_storage_stats(void) {
  KpAny json;
  return kpy_given(kp_storage_stats(&json), &json);
}

PyObject* kpy_api_storage_get(KpBytes module, KpBytes key, uint32_t scope, KpDLDevice device, void* stream) {
  const KpStorageKey at = Key(module, key, scope, device, stream);
  KpAny value;
  int32_t found;
  PyObject* object = kpy_given(kp_host()->storage_get(kp_host(), &at, &value, &found), &value);
  return object == NULL ? NULL : Py_BuildValue("(NN)", PyBool_FromLong(found), object);
}

PyObject* kpy_api_storage_set(KpBytes module, KpBytes key, uint32_t scope, KpDLDevice device, void* stream,
                              KpAny value) {
  const KpStorageKey at = Key(module, key, scope, device, stream);
  return kpy_done(kp_host()->storage_set(kp_host(), &at, &value));
}

PyObject* kpy_api_storage_erase(KpBytes module, KpBytes key, uint32_t scope, KpDLDevice device, void* stream) {
  const KpStorageKey at = Key(module, key, scope, device, stream);
  int32_t erased;
  return kp_host()->storage_erase(kp_host(), &at, &erased) == 0 ? PyBool_FromLong(erased) : NULL;
}

PyObject* kpy_api_storage_list(KpBytes module, KpBytes key, uint32_t scope, KpDLDevice device, void* stream) {
  const KpStorageKey at = Key(module, key, scope, device, stream);
  KpAny keys;
  return kpy_given(kp_host()->storage_list(kp_host(), &at, &keys), &keys);
}

PyObject* kpy_api_storage_reset_device(KpDLDevice device) { return kpy_done(kp_storage_reset_device(device)); }
