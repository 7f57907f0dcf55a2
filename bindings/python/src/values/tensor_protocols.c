/* kernpack.Tensor as a producer: __dlpack__ capsules and the buffer protocol. */
#include <kernpack/host/device.h>
#include <string.h>

#include "python/errors.h"
#include "tensor.h"

/* ---- DLPack ---- */

static void FreeVersioned(PyObject* capsule) {
  KpDLManagedTensorVersioned* managed;
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return; /* consumed */
  managed = (KpDLManagedTensorVersioned*)PyCapsule_GetPointer(capsule, "dltensor_versioned");
  if (managed->deleter != NULL) managed->deleter(managed);
}

static void FreeUnversioned(PyObject* capsule) {
  KpDLManagedTensor* managed;
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  managed = (KpDLManagedTensor*)PyCapsule_GetPointer(capsule, "dltensor");
  if (managed->deleter != NULL) managed->deleter(managed);
}

static PyObject* VersionedCapsule(KpObject* tensor) {
  KpDLManagedTensorVersioned* managed;
  PyObject* capsule;
  if (kp_tensor_to_dlpack_versioned(tensor, &managed) != 0) return kpy_raise_host("kernpack.Tensor", -1);
  capsule = PyCapsule_New(managed, "dltensor_versioned", FreeVersioned);
  if (capsule == NULL && managed->deleter != NULL) managed->deleter(managed);
  return capsule;
}

static PyObject* UnversionedCapsule(KpObject* tensor) {
  KpDLManagedTensor* managed;
  PyObject* capsule;
  if (kp_tensor_to_dlpack(tensor, &managed) != 0) return kpy_raise_host("kernpack.Tensor", -1);
  capsule = PyCapsule_New(managed, "dltensor", FreeUnversioned);
  if (capsule == NULL && managed->deleter != NULL) managed->deleter(managed);
  return capsule;
}

/* (major, minor) of a max_version argument: major, 0 for None, -1 on error. */
static long ParseMajor(PyObject* max_version) {
  PyObject* item;
  long major;
  if (max_version == NULL || max_version == Py_None) return 0;
  item = PySequence_GetItem(max_version, 0);
  major = item == NULL ? -1 : PyLong_AsLong(item);
  Py_XDECREF(item);
  return PyErr_Occurred() ? -1 : major;
}

/* 1 if a consumer asks for the tensor on the CPU; -1 with an exception if it asks for another device. */
static int WantsHost(const KpDLTensor* view, PyObject* wanted) {
  int type, id;
  if (wanted == NULL || wanted == Py_None) return 0;
  if (!PyArg_ParseTuple(wanted, "ii", &type, &id)) return -1;
  if (type == view->device.device_type && id == view->device.device_id) return 0;
  if (type == KP_DEVICE_CPU) return 1;
  PyErr_SetString(PyExc_BufferError, "kernpack.Tensor: __dlpack__ copies to the CPU only; use .to(device)");
  return -1;
}

/* Handles that aren't addresses mean nothing outside. The consumer's stream is made to wait for what is queued on ours. */
int kpy_tensor_prepare_export(const KpDLTensor* view, PyObject* stream) {
  const KpDeviceApi* api;
  unsigned long long handle = 1; /* by the protocol: the default stream */
  if (view->device.device_type == KP_DEVICE_CPU) return 0;
  if (kp_device_api(view->device.device_type, &api) != 0) {
    kp_error_clear(); /* memory that another framework lent us, of a device we have no backend for */
    return 0;
  }
  if (!(api->flags & KP_DEVICE_ADDRESSES)) {
    PyErr_Format(PyExc_BufferError, "kernpack.Tensor: memory of %s:%d has no address to share; use .to(\"cpu\")",
                 kp_device_type_name(view->device.device_type), (int)view->device.device_id);
    return -1;
  }
  if (stream != NULL && stream != Py_None) {
    if (PyLong_AsLong(stream) == -1) return PyErr_Occurred() ? -1 : 0; /* it wants no waiting */
    handle = PyLong_AsUnsignedLongLong(stream);
    if (PyErr_Occurred()) return -1;
  }
  if (handle == 1) handle = 0;
  if (api->stream_wait_stream(api, view->device, (void*)(uintptr_t)handle, kp_stream_get(view->device)) == 0) return 0;
  (void)kpy_raise_host("kernpack.Tensor", -1);
  return -1;
}

/* A copy on the CPU. */
static int CopyToHost(const KpDLTensor* view, KpAny* out) {
  KpDLTensor prototype = *view;
  int rc;
  prototype.device.device_type = KP_DEVICE_CPU;
  prototype.device.device_id = 0;
  rc = kp_tensor_new(&prototype, out);
  if (rc == 0) {
    Py_BEGIN_ALLOW_THREADS;
    rc = kp_copy(view, kp_any_tensor(out));
    Py_END_ALLOW_THREADS;
    if (rc != 0) kp_any_release(out);
  }
  if (rc != 0) (void)kpy_raise_host("kernpack.Tensor", rc);
  return rc;
}

PyObject* kpy_tensor_dlpack(PyObject* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"stream", "max_version", "dl_device", "copy", NULL};
  PyObject *stream = NULL, *max_version = NULL, *device = NULL, *copy = NULL;
  const KpDLTensor* view;
  PyObject* capsule;
  KpAny tensor;
  long major;
  int to_host, rc;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO:__dlpack__", names, &stream, &max_version, &device, &copy)) {
    return NULL;
  }
  view = kpy_tensor_view(self);
  to_host = view == NULL ? -1 : WantsHost(view, device);
  if (to_host < 0) return NULL;
  if (to_host ? copy == Py_False : copy == Py_True) {
    PyErr_SetString(PyExc_BufferError, to_host
                                           ? "kernpack.Tensor: the CPU gets a copy, but copy=False forbids one"
                                           : "kernpack.Tensor: __dlpack__ shares memory; copy=True is not supported");
    return NULL;
  }
  major = ParseMajor(max_version);
  if (major < 0) return NULL;
  if (to_host) {
    rc = CopyToHost(view, &tensor);
  } else {
    rc = kpy_tensor_prepare_export(view, stream) == 0 ? kpy_tensor_export(self, &tensor) : -1;
  }
  if (rc != 0) return NULL;
  capsule = major >= 1 ? VersionedCapsule(tensor.v.v_obj) : UnversionedCapsule(tensor.v.v_obj);
  kp_any_release(&tensor);
  return capsule;
}

PyObject* kpy_tensor_dlpack_device(PyObject* self, PyObject* unused) {
  const KpDLTensor* view = kpy_tensor_view(self);
  (void)unused;
  return view == NULL ? NULL : Py_BuildValue("(ii)", view->device.device_type, view->device.device_id);
}

/* ---- buffer ---- */

typedef struct BufferShape {
  Py_ssize_t shape[KP_MAX_NDIM];
  Py_ssize_t strides[KP_MAX_NDIM]; /* bytes */
} BufferShape;

static const char* GetFormat(KpDLDataType dtype) {
  if (dtype.lanes != 1) return NULL;
  switch (dtype.code) {
    case KP_DTYPE_BOOL:
      return dtype.bits == 8 ? "?" : NULL;
    case KP_DTYPE_INT:
      return dtype.bits == 8 ? "b" : dtype.bits == 16 ? "h" : dtype.bits == 32 ? "i" : dtype.bits == 64 ? "q" : NULL;
    case KP_DTYPE_UINT:
      return dtype.bits == 8 ? "B" : dtype.bits == 16 ? "H" : dtype.bits == 32 ? "I" : dtype.bits == 64 ? "Q" : NULL;
    case KP_DTYPE_FLOAT:
      return dtype.bits == 16 ? "e" : dtype.bits == 32 ? "f" : dtype.bits == 64 ? "d" : NULL;
    case KP_DTYPE_COMPLEX:
      return dtype.bits == 64 ? "Zf" : dtype.bits == 128 ? "Zd" : NULL;
    default:
      return NULL;
  }
}

/* Fills extents and byte steps; returns whether they are compact row-major. */
static int FillShape(const KpDLTensor* view, Py_ssize_t itemsize, BufferShape* out) {
  Py_ssize_t expected = itemsize;
  int compact = 1;
  int32_t i;
  for (i = view->ndim; i-- > 0; expected *= out->shape[i]) {
    out->shape[i] = (Py_ssize_t)view->shape[i];
    out->strides[i] = view->strides == NULL ? expected : (Py_ssize_t)view->strides[i] * itemsize;
    if (out->shape[i] != 1 && out->strides[i] != expected) compact = 0;
  }
  return compact;
}

static int BufferError(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  return -1;
}

int kpy_tensor_get_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  const KpDLTensor* view = kpy_tensor_view(self);
  const char* format;
  BufferShape* shape;
  Py_ssize_t count = 1;
  int32_t i;
  int compact;
  buffer->obj = NULL;
  if (view == NULL) return -1;
  if (view->device.device_type != KP_DEVICE_CPU)
    return BufferError("kernpack.Tensor: the buffer protocol needs CPU memory; use .to(\"cpu\")");
  format = GetFormat(view->dtype);
  if (((KpyTensor*)self)->read_only && (flags & PyBUF_WRITABLE))
    return BufferError("kernpack.Tensor: read-only; write to a copy");
  if (format == NULL) return BufferError("kernpack.Tensor: this dtype has no buffer format; use __dlpack__");
  if (kpy_tensor_lend((KpyTensor*)self) != 0) return -1;
  shape = (BufferShape*)PyMem_Malloc(sizeof(BufferShape));
  if (shape == NULL) {
    kpy_tensor_return((KpyTensor*)self);
    return BufferError("kernpack.Tensor: out of memory");
  }
  compact = FillShape(view, view->dtype.bits / 8, shape);
  if (!compact && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    PyMem_Free(shape);
    kpy_tensor_return((KpyTensor*)self);
    return BufferError("kernpack.Tensor: not contiguous; ask for strides");
  }
  for (i = 0; i < view->ndim; ++i) count *= shape->shape[i];
  buffer->buf = (char*)view->data + view->byte_offset;
  buffer->itemsize = view->dtype.bits / 8;
  buffer->len = count * buffer->itemsize;
  buffer->readonly = ((KpyTensor*)self)->read_only;
  buffer->ndim = view->ndim;
  buffer->format = (flags & PyBUF_FORMAT) ? (char*)(void*)(uintptr_t)format : NULL;
  buffer->shape = (flags & PyBUF_ND) ? shape->shape : NULL;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape->strides : NULL;
  buffer->suboffsets = NULL;
  buffer->internal = shape;
  buffer->obj = self;
  Py_INCREF(self);
  return 0;
}

void kpy_tensor_release_buffer(PyObject* self, Py_buffer* buffer) {
  PyMem_Free(buffer->internal);
  kpy_tensor_return((KpyTensor*)self);
}
