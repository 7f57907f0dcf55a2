/* Tensors from Python: made, viewed, copied. */
#include "api.h"
#include "values/classes.h"
#include "python/errors.h"

/* The host's tensor as a kernpack.Tensor; gives up the value. */
static PyObject* Given(int rc, KpAny* value) {
  PyObject* tensor = rc == 0 ? kpy_tensor_from_object(value->v.v_obj) : NULL;
  if (rc == 0) kp_any_release(value);
  return tensor;
}

static PyObject* ToTensor(PyObject* object, const char* what, const char* who, uint32_t flags) {
  KpAny value;
  if (kpy_to_any_for(object, what, flags, &value) != 0) return NULL;
  if (value.type_index == KP_TYPE_TENSOR) return Given(0, &value);
  kp_any_release(&value);
  return PyErr_Format(PyExc_TypeError, "%s: expected a tensor, got %R", who, (PyObject*)Py_TYPE(object));
}

PyObject* kpy_api_as_tensor(PyObject* x) { return ToTensor(x, "value", "from_dlpack", 0); }

/* As as_tensor, of what will be written to: refuses memory that is read-only. */
PyObject* kpy_api_as_writeable_tensor(PyObject* x, const char* what) {
  return ToTensor(x, what, what, KP_PARAM_MUTATED);
}

/* The number of dims, or -1. */
static int32_t ReadShape(PyObject* shape, int64_t* dims) {
  PyObject* tuple = PySequence_Tuple(shape);
  const Py_ssize_t count = tuple == NULL ? 0 : PyTuple_Size(tuple);
  Py_ssize_t i;
  if (count > KP_MAX_NDIM) PyErr_Format(PyExc_ValueError, "empty: at most %d dimensions, got %zd", KP_MAX_NDIM, count);
  for (i = 0; !PyErr_Occurred() && i < count; ++i) dims[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  Py_XDECREF(tuple);
  return PyErr_Occurred() ? -1 : (int32_t)count;
}

PyObject* kpy_api_empty(PyObject* shape, KpDLDataType dtype, KpDLDevice device, KpBytes scope) {
  KpDLTensor prototype = {0};
  int64_t dims[KP_MAX_NDIM];
  KpAny value;
  int rc;
  prototype.ndim = ReadShape(shape, dims);
  if (prototype.ndim < 0) return NULL;
  prototype.shape = dims;
  prototype.dtype = dtype;
  prototype.device = device;
  if (device.device_type == 0) prototype.device.device_type = KP_DEVICE_CPU;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_tensor_alloc(&prototype, scope, &value);
  Py_END_ALLOW_THREADS;
  return Given(rc, &value);
}

PyObject* kpy_api_copy(KpAny source, KpAny target) {
  int rc;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_copy(kp_any_tensor(&source), kp_any_tensor(&target));
  Py_END_ALLOW_THREADS;
  return kpy_done(rc);
}

PyObject* kpy_api_fill(KpAny tensor, int32_t value) {
  int rc;
  Py_BEGIN_ALLOW_THREADS;
  rc = kp_fill(kp_any_tensor(&tensor), value);
  Py_END_ALLOW_THREADS;
  return kpy_done(rc);
}

static void ReleaseShared(void* tensor) { kp_release((KpObject*)tensor); }

/* The memory of a device that the CPU may use, as a tensor of the CPU's. The caller has waited for the device. */
PyObject* kpy_api_host_view(KpAny tensor) {
  const KpDLTensor* view = kp_any_tensor(&tensor);
  const KpDeviceApi* api = kpy_device_api(view->device);
  KpDLTensor host = *view;
  KpAny made;
  int rc;
  if (api == NULL) return NULL;
  if (!(api->flags & KP_DEVICE_HOST_ACCESS)) {
    return PyErr_Format(PyExc_BufferError, "the tensor is on %s:%d, whose memory the CPU cannot read; use .to(\"cpu\")",
                        kp_device_type_name(view->device.device_type), (int)view->device.device_id);
  }
  host.device.device_type = KP_DEVICE_CPU;
  host.device.device_id = 0;
  kp_retain(tensor.v.v_obj);
  rc = kp_tensor_wrap(&host, tensor.v.v_obj, ReleaseShared, &made);
  if (rc != 0) kp_release(tensor.v.v_obj);
  if (rc == 0 && (kp_tensor_flags(tensor.v.v_obj) & 1)) rc = kp_tensor_make_read_only(made.v.v_obj);
  return Given(rc, &made);
}
