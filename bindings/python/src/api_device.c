/* Devices from Python: what there is, streams, memory. */
#include <kernpack/host/device.h>

#include "api.h"
#include "classes.h"
#include "errors.h"
#include "values.h"

/* Reads a device argument; 0, or -1 with a Python exception set. */
static int ParseDevice(PyObject* object, KpDLDevice* out) {
  int is = kpy_device_from(object, out);
  if (is == 0) PyErr_Format(PyExc_TypeError, "expected a device, such as \"cuda:1\", got %R", object);
  return is == 1 ? 0 : -1;
}

static const KpDeviceApi* ApiOf(KpDLDevice device) {
  const KpDeviceApi* api = NULL;
  if (kp_device_api(device.device_type, &api) != 0) (void)kpy_raise_host("kernpack.device", -1);
  return api;
}

/* A host value that is given up. */
static PyObject* Give(KpAny* value) {
  PyObject* object = kpy_to_python(value, NULL);
  kp_any_release(value);
  return object;
}

PyObject* kpy_backend_load(PyObject* module, PyObject* args) {
  const char* path;
  (void)module;
  if (!PyArg_ParseTuple(args, "s:load_backend", &path)) return NULL;
  if (kp_backend_load(path) != 0) return kpy_raise_host("load_backend", -1);
  Py_RETURN_NONE;
}

PyObject* kpy_backend_info(PyObject* module, PyObject* open) {
  KpAny text;
  (void)module;
  if (kp_backend_info(open == Py_True, &text) != 0) return kpy_raise_host("kernpack.info", -1);
  return Give(&text);
}

PyObject* kpy_backend_names(PyObject* module, PyObject* unused) {
  KpAny names;
  (void)module, (void)unused;
  if (kp_backend_names(&names) != 0) return kpy_raise_host("kernpack.devices", -1);
  return Give(&names);
}

PyObject* kpy_device_count(PyObject* module, PyObject* object) {
  KpDLDevice device;
  KpAny reason;
  int32_t count;
  int rc;
  PyObject* text;
  (void)module;
  if (ParseDevice(object, &device) != 0) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_device_count(device.device_type, &count, &reason);
  Py_END_ALLOW_THREADS;
  if (rc != 0) return kpy_raise_host("kernpack.devices", -1);
  text = Give(&reason);
  return text == NULL ? NULL : Py_BuildValue("(iN)", (int)count, text);
}

/* (flags, max_alignment, [scope], [property]) */
PyObject* kpy_device_facts(PyObject* module, PyObject* object) {
  const KpDeviceApi* api;
  KpDLDevice device;
  PyObject* lists[2];
  const char* const* texts[2];
  int i;
  (void)module;
  if (ParseDevice(object, &device) != 0 || (api = ApiOf(device)) == NULL) return NULL;
  texts[0] = api->scopes;
  texts[1] = api->properties;
  for (i = 0; i < 2; ++i) {
    const char* const* text;
    lists[i] = PyList_New(0);
    for (text = texts[i]; lists[i] != NULL && text != NULL && *text != NULL; ++text) {
      PyObject* item = PyUnicode_FromString(*text);
      if (item == NULL || PyList_Append(lists[i], item) != 0) PyErr_Clear();
      Py_XDECREF(item);
    }
  }
  return Py_BuildValue("(IINN)", api->flags, api->max_alignment, lists[0], lists[1]);
}

PyObject* kpy_device_property(PyObject* module, PyObject* args) {
  PyObject* object;
  KpDLDevice device;
  KpBytes name;
  Py_ssize_t size;
  KpAny value;
  (void)module;
  if (!PyArg_ParseTuple(args, "Os#:get_property", &object, &name.data, &size) || ParseDevice(object, &device) != 0) {
    return NULL;
  }
  name.size = (size_t)size;
  if (kp_device_get_property(device, name, &value) != 0) return kpy_raise_host("get_property", -1);
  return Give(&value);
}

PyObject* kpy_device_reset(PyObject* module, PyObject* object) {
  KpDLDevice device;
  (void)module;
  if (ParseDevice(object, &device) != 0) return NULL;
  if (kp_device_reset(device) != 0) return kpy_raise_host("reset", -1);
  Py_RETURN_NONE;
}

PyObject* kpy_workspace_stats(PyObject* module, PyObject* unused) {
  KpAny text;
  (void)module, (void)unused;
  if (kp_workspace_stats(&text) != 0) return kpy_raise_host("workspace_stats", -1);
  return Give(&text);
}

PyObject* kpy_workspace_trim(PyObject* module, PyObject* object) {
  KpDLDevice device;
  uint64_t bytes;
  (void)module;
  if (ParseDevice(object, &device) != 0) return NULL;
  if (kp_workspace_trim(device, &bytes) != 0) return kpy_raise_host("workspace_trim", -1);
  return PyLong_FromUnsignedLongLong(bytes);
}

/* ---- streams: the device, and handles as ints ---- */

static int ParseStream(PyObject* args, const char* format, KpDLDevice* device, unsigned long long* first,
                       unsigned long long* second) {
  PyObject* object;
  return PyArg_ParseTuple(args, format, &object, first, second) ? ParseDevice(object, device) : -1;
}

PyObject* kpy_stream_new(PyObject* module, PyObject* args) {
  const KpDeviceApi* api;
  KpDLDevice device;
  PyObject* object;
  void* stream;
  int priority;
  (void)module;
  if (!PyArg_ParseTuple(args, "Oi:Stream", &object, &priority) || ParseDevice(object, &device) != 0 ||
      (api = ApiOf(device)) == NULL) {
    return NULL;
  }
  if (api->stream_new(api, device, priority, &stream) != 0) return kpy_raise_host("Stream", -1);
  return PyLong_FromVoidPtr(stream);
}

PyObject* kpy_stream_free(PyObject* module, PyObject* args) {
  const KpDeviceApi* api;
  KpDLDevice device;
  unsigned long long stream;
  (void)module;
  if (ParseStream(args, "OK:stream_free", &device, &stream, NULL) != 0 || (api = ApiOf(device)) == NULL) return NULL;
  if (api->stream_free(api, device, (void*)(uintptr_t)stream) != 0) return kpy_raise_host("Stream", -1);
  Py_RETURN_NONE;
}

PyObject* kpy_stream_sync(PyObject* module, PyObject* args) {
  const KpDeviceApi* api;
  KpDLDevice device;
  unsigned long long stream;
  int rc;
  (void)module;
  if (ParseStream(args, "OK:sync", &device, &stream, NULL) != 0 || (api = ApiOf(device)) == NULL) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  rc = api->stream_sync(api, device, (void*)(uintptr_t)stream);
  Py_END_ALLOW_THREADS;
  if (rc != 0) return kpy_raise_host("sync", -1);
  Py_RETURN_NONE;
}

PyObject* kpy_stream_query(PyObject* module, PyObject* args) {
  const KpDeviceApi* api;
  KpDLDevice device;
  unsigned long long stream;
  int32_t done;
  (void)module;
  if (ParseStream(args, "OK:done", &device, &stream, NULL) != 0 || (api = ApiOf(device)) == NULL) return NULL;
  if (api->stream_query(api, device, (void*)(uintptr_t)stream, &done) != 0) return kpy_raise_host("done", -1);
  return PyBool_FromLong(done);
}

PyObject* kpy_stream_wait(PyObject* module, PyObject* args) {
  const KpDeviceApi* api;
  KpDLDevice device;
  unsigned long long waiting, other;
  (void)module;
  if (ParseStream(args, "OKK:wait", &device, &waiting, &other) != 0 || (api = ApiOf(device)) == NULL) return NULL;
  if (api->stream_wait_stream(api, device, (void*)(uintptr_t)waiting, (void*)(uintptr_t)other) != 0) {
    return kpy_raise_host("wait", -1);
  }
  Py_RETURN_NONE;
}

PyObject* kpy_stream_get(PyObject* module, PyObject* object) {
  KpDLDevice device;
  (void)module;
  return ParseDevice(object, &device) != 0 ? NULL : PyLong_FromVoidPtr(kp_stream_get(device));
}

PyObject* kpy_stream_set(PyObject* module, PyObject* args) {
  KpDLDevice device;
  unsigned long long stream;
  void* previous;
  (void)module;
  if (ParseStream(args, "OK:stream_set", &device, &stream, NULL) != 0) return NULL;
  if (kp_stream_set(device, (void*)(uintptr_t)stream, &previous) != 0) return kpy_raise_host("stream", -1);
  return PyLong_FromVoidPtr(previous);
}

/* ---- memory ---- */

PyObject* kpy_empty(PyObject* module, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"shape", "dtype", "device", "scope", NULL};
  PyObject *shape, *dtype, *device = NULL, *tuple, *tensor = NULL;
  KpDLTensor prototype = {0};
  KpBytes scope = {NULL, 0};
  int64_t dims[KP_MAX_NDIM];
  Py_ssize_t i, count, scope_size = 0;
  KpAny value;
  int rc;
  (void)module;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO|Oz#:empty", names, &shape, &dtype, &device, &scope.data,
                                   &scope_size)) {
    return NULL;
  }
  scope.size = (size_t)scope_size;
  prototype.device.device_type = KP_DEVICE_CPU;
  if (device != NULL && device != Py_None && ParseDevice(device, &prototype.device) != 0) return NULL;
  rc = kpy_dtype_from(dtype, &prototype.dtype);
  if (rc == 0) PyErr_Format(PyExc_TypeError, "empty: dtype: expected a dtype, got %R", dtype);
  if (rc <= 0) return NULL;
  tuple = PySequence_Tuple(shape);
  if (tuple == NULL) return NULL;
  count = PyTuple_Size(tuple);
  if (count > KP_MAX_NDIM) PyErr_Format(PyExc_ValueError, "empty: at most %d dimensions, got %zd", KP_MAX_NDIM, count);
  for (i = 0; !PyErr_Occurred() && i < count; ++i) dims[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  Py_DECREF(tuple);
  if (PyErr_Occurred()) return NULL;
  prototype.ndim = (int32_t)count;
  prototype.shape = dims;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_tensor_alloc(&prototype, scope, &value);
  Py_END_ALLOW_THREADS;
  if (rc != 0) return kpy_raise_host("empty", -1);
  tensor = kpy_tensor_from_object(value.v.v_obj);
  kp_any_release(&value);
  return tensor;
}

PyObject* kpy_tensor_copy(PyObject* module, PyObject* args) {
  PyObject *from, *to;
  KpAny source, target;
  int rc;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO:copy", &from, &to) || kpy_tensor_keep(from, &source) != 0) return NULL;
  if (kpy_tensor_keep(to, &target) != 0) {
    kp_any_release(&source);
    return NULL;
  }
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_copy(kp_any_tensor(&source), kp_any_tensor(&target));
  Py_END_ALLOW_THREADS;
  kp_any_release(&source);
  kp_any_release(&target);
  if (rc != 0) return kpy_raise_host("copy", -1);
  Py_RETURN_NONE;
}

PyObject* kpy_tensor_fill(PyObject* module, PyObject* args) {
  PyObject* object;
  KpAny target;
  int rc, value;
  (void)module;
  if (!PyArg_ParseTuple(args, "Oi:fill", &object, &value) || kpy_tensor_keep(object, &target) != 0) return NULL;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_fill(kp_any_tensor(&target), value);
  Py_END_ALLOW_THREADS;
  kp_any_release(&target);
  if (rc != 0) return kpy_raise_host("fill", -1);
  Py_RETURN_NONE;
}

static void ReleaseShared(void* tensor) { kp_release((KpObject*)tensor); }

/* The memory of a device that the CPU may use, as a tensor of the CPU's. The caller has waited for the device. */
PyObject* kpy_tensor_host_view(PyObject* module, PyObject* object) {
  const KpDLTensor* view;
  const KpDeviceApi* api;
  KpDLTensor host;
  KpAny kept, made;
  PyObject* tensor;
  (void)module;
  if (kpy_tensor_keep(object, &kept) != 0) return NULL;
  view = kp_any_tensor(&kept);
  api = ApiOf(view->device);
  if (api != NULL && !(api->flags & KP_DEVICE_HOST_ACCESS)) {
    PyErr_Format(PyExc_BufferError, "the tensor is on %s:%d, whose memory the CPU cannot read; use .to(\"cpu\")",
                 kp_device_type_name(view->device.device_type), (int)view->device.device_id);
    api = NULL;
  }
  if (api == NULL) {
    kp_any_release(&kept);
    return NULL;
  }
  host = *view;
  host.device.device_type = KP_DEVICE_CPU;
  host.device.device_id = 0;
  if (kp_tensor_wrap(&host, kept.v.v_obj, ReleaseShared, &made) != 0) {
    kp_any_release(&kept);
    return kpy_raise_host("kernpack.Tensor", -1);
  }
  tensor = kpy_tensor_from_object(made.v.v_obj);
  kp_any_release(&made);
  return tensor;
}
