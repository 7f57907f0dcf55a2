/* Streams: a device, and a handle that is an int in Python. */
#include "api.h"

PyObject* kpy_api_stream_new(KpDLDevice device, int32_t priority) {
  const KpDeviceApi* api = kpy_device_api(device);
  void* stream;
  return api != NULL && api->stream_new(api, device, priority, &stream) == 0 ? PyLong_FromVoidPtr(stream) : NULL;
}

PyObject* kpy_api_stream_free(KpDLDevice device, void* stream) {
  const KpDeviceApi* api = kpy_device_api(device);
  return api == NULL ? NULL : kpy_done(api->stream_free(api, device, stream));
}

PyObject* kpy_api_stream_sync(KpDLDevice device, void* stream) {
  const KpDeviceApi* api = kpy_device_api(device);
  int rc;
  if (api == NULL) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  rc = api->stream_sync(api, device, stream);
  Py_END_ALLOW_THREADS;
  return kpy_done(rc);
}

PyObject* kpy_api_stream_query(KpDLDevice device, void* stream) {
  const KpDeviceApi* api = kpy_device_api(device);
  int32_t done;
  return api != NULL && api->stream_query(api, device, stream, &done) == 0 ? PyBool_FromLong(done) : NULL;
}

PyObject* kpy_api_stream_wait(KpDLDevice device, void* waiting, void* other) {
  const KpDeviceApi* api = kpy_device_api(device);
  return api == NULL ? NULL : kpy_done(api->stream_wait_stream(api, device, waiting, other));
}

PyObject* kpy_api_stream_get(KpDLDevice device) { return PyLong_FromVoidPtr(kp_stream_get(device)); }

PyObject* kpy_api_stream_set(KpDLDevice device, void* stream) {
  void* previous;
  return kp_stream_set(device, stream, &previous) == 0 ? PyLong_FromVoidPtr(previous) : NULL;
}
