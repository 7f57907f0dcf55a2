/* Keyed storage from Python: the same values that kernels see. */
#include "api.h"
#include "classes.h"
#include "convert.h"
#include "errors.h"
#include "values.h"

/* Parses (module, key, scope, device or None, stream); the texts stay borrowed from the arguments. */
static int ParseKey(PyObject* args, const char* format, KpStorageKey* key, PyObject** value) {
  PyObject* device;
  Py_ssize_t module_size, key_size;
  unsigned long long stream;
  KpStorageKey zero = {0};
  *key = zero;
  if (!PyArg_ParseTuple(args, format, &key->module.data, &module_size, &key->key.data, &key_size, &key->scope, &device,
                        &stream, value)) {
    return -1;
  }
  key->module.size = (size_t)module_size;
  key->key.size = (size_t)key_size;
  key->stream = (void*)(uintptr_t)stream;
  if (device == Py_None) return 0;
  if (kpy_device_from(device, &key->device) == 1) return 0;
  if (!PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "storage: expected a device, got %R", device);
  return -1;
}

PyObject* kpy_storage_stats_json(PyObject* module, PyObject* unused) {
  PyObject* text;
  KpAny json;
  (void)module, (void)unused;
  if (kp_storage_stats(&json) != 0) return kpy_raise_host("storage.stats", -1);
  text = kpy_to_python(&json, NULL);
  kp_any_release(&json);
  return text;
}

PyObject* kpy_storage_read(PyObject* module, PyObject* args) {
  PyObject *object, *unused;
  KpStorageKey key;
  KpAny value;
  int32_t found;
  (void)module;
  if (ParseKey(args, "s#s#IOK:storage_get", &key, &unused) != 0) return NULL;
  if (kp_host()->storage_get(kp_host(), &key, &value, &found) != 0) return kpy_raise_host("storage.get", -1);
  object = kpy_to_python(&value, NULL);
  kp_any_release(&value);
  return object == NULL ? NULL : Py_BuildValue("(NN)", PyBool_FromLong(found), object);
}

PyObject* kpy_storage_write(PyObject* module, PyObject* args) {
  PyObject* object;
  KpStorageKey key;
  KpAny value;
  int rc;
  (void)module;
  if (ParseKey(args, "s#s#IOKO:storage_set", &key, &object) != 0 || kpy_to_any(object, "value", &value) != 0)
    return NULL;
  rc = kp_host()->storage_set(kp_host(), &key, &value);
  kp_any_release(&value);
  if (rc != 0) return kpy_raise_host("storage.set", rc);
  Py_RETURN_NONE;
}

PyObject* kpy_storage_remove(PyObject* module, PyObject* args) {
  PyObject* unused;
  KpStorageKey key;
  int32_t erased;
  (void)module;
  if (ParseKey(args, "s#s#IOK:storage_erase", &key, &unused) != 0) return NULL;
  if (kp_host()->storage_erase(kp_host(), &key, &erased) != 0) return kpy_raise_host("storage.erase", -1);
  return PyBool_FromLong(erased);
}

PyObject* kpy_storage_keys(PyObject* module, PyObject* args) {
  PyObject *list, *unused;
  KpStorageKey key;
  KpAny keys;
  (void)module;
  if (ParseKey(args, "s#s#IOK:storage_list", &key, &unused) != 0) return NULL;
  if (kp_host()->storage_list(kp_host(), &key, &keys) != 0) return kpy_raise_host("storage.list", -1);
  list = kpy_to_python(&keys, NULL);
  kp_any_release(&keys);
  return list;
}

PyObject* kpy_storage_drop_device(PyObject* module, PyObject* object) {
  KpDLDevice device;
  int is = kpy_device_from(object, &device);
  (void)module;
  if (is == 0) PyErr_Format(PyExc_TypeError, "storage: expected a device, got %R", object);
  if (is <= 0) return NULL;
  if (kp_storage_reset_device(device) != 0) return kpy_raise_host("storage.reset_device", -1);
  Py_RETURN_NONE;
}
