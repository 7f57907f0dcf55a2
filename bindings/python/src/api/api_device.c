/* Devices from Python: what there is. */

#include "api.h"

PyObject* kpy_api_backend_load(PyObject* path) { return kpy_done(kp_backend_load(PyBytes_AsString(path))); }

PyObject* kpy_api_backend_info(int open) {
  KpAny text;
  return kpy_given(kp_backend_info(open, &text), &text);
}

PyObject* kpy_api_backend_names(void) {
  KpAny names;
  return kpy_given(kp_backend_names(&names), &names);
}

PyObject* kpy_api_device_count(KpDLDevice device) {
  PyObject* text;
  KpAny reason;
  int32_t count;
  int rc;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_device_count(device.device_type, &count, &reason);
  Py_END_ALLOW_THREADS;
  text = kpy_given(rc, &reason);
  return text == NULL ? NULL : Py_BuildValue("(iN)", (int)count, text);
}

/* A list of str of texts that end with NULL; NULL is none. */
static PyObject* List(const char* const* texts) {
  PyObject* list = PyList_New(0);
  for (; list != NULL && texts != NULL && *texts != NULL; ++texts) {
    PyObject* item = PyUnicode_FromString(*texts);
    if (item == NULL || PyList_Append(list, item) != 0) PyErr_Clear();
    Py_XDECREF(item);
  }
  return list;
}

PyObject* kpy_api_device_facts(KpDLDevice device) {
  const KpDeviceApi* api = kpy_device_api(device);
  if (api == NULL) return NULL;
  return Py_BuildValue("(IINN)", api->flags, api->max_alignment, List(api->scopes), List(api->properties));
}

PyObject* kpy_api_device_property(KpDLDevice device, KpBytes name) {
  KpAny value;
  return kpy_given(kp_device_get_property(device, name, &value), &value);
}

PyObject* kpy_api_device_reset(KpDLDevice device) { return kpy_done(kp_device_reset(device)); }
