/* kernpack.Device: (kind, index) as kernels see devices, and what its backend tells of it. */
#include <kernpack/host/device.h>

#include "classes.h"
#include "python/errors.h"
#include "python/hooks.h"
#include "value_class.h"
#include "values.h"

/* Backends that installed packages offer are looked up when a name is not known without them. Whether there were any. */
static int LoadInstalledBackends(void) {
  PyObject* loaded = kpy_helper("load_installed_backends", "()");
  const int any = loaded == Py_True;
  if (loaded == NULL) PyErr_Clear();
  Py_XDECREF(loaded);
  return any;
}

static int FromName(PyObject* text, void* value) {
  KpDLDevice* out = (KpDLDevice*)value;
  KpBytes name;
  Py_ssize_t size;
  name.data = PyUnicode_AsUTF8AndSize(text, &size);
  if (name.data == NULL) return -1;
  name.size = (size_t)size;
  if (kp_device_from_name(name, out) == 0) return 1;
  if (LoadInstalledBackends()) {
    kp_error_clear();
    if (kp_device_from_name(name, out) == 0) return 1;
  }
  (void)kpy_raise_host("kernpack.device", -1);
  return -1;
}

/* DLPack's (type, index), or ("cuda", 1). */
static int FromTuple(PyObject* object, void* value) {
  KpDLDevice* out = (KpDLDevice*)value;
  PyObject* kind = PyTuple_Check(object) && PyTuple_Size(object) == 2 ? PyTuple_GetItem(object, 0) : NULL;
  PyObject* index = kind == NULL ? NULL : PyTuple_GetItem(object, 1);
  if (index == NULL || !PyLong_Check(index)) return 0;
  if (PyUnicode_Check(kind)) {
    if (FromName(kind, out) < 0) return -1;
  } else if (PyLong_Check(kind)) {
    out->device_type = (int32_t)PyLong_AsLong(kind);
  } else {
    return 0;
  }
  out->device_id = (int32_t)PyLong_AsLong(index);
  return PyErr_Occurred() ? -1 : 1;
}

static KpyValueClass g_class = {sizeof(KpDLDevice), FromName, FromTuple, "device_name", NULL, NULL};

PyObject* kpy_device_new(KpDLDevice device) { return kpy_value_new(&g_class, &device); }
int kpy_device_from(PyObject* object, KpDLDevice* out) { return kpy_value_from(&g_class, object, out); }
static KpDLDevice ReadDevice(PyObject* self) { return *(KpDLDevice*)kpy_value_of(self); }
static PyObject* Compare(PyObject* a, PyObject* b, int op) { return kpy_value_compare(&g_class, a, b, op); }

static PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"spec", "index", NULL};
  PyObject* spec;
  KpDLDevice device;
  int index = -1, is;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|i:Device", names, &spec, &index)) return NULL;
  is = kpy_device_from(spec, &device);
  if (is < 0) return NULL;
  if (is == 0) return PyErr_Format(PyExc_TypeError, "Device: expected a device, such as \"cuda:1\", got %R", spec);
  if (index >= 0) device.device_id = index;
  return kpy_device_new(device);
}

static PyObject* GetType(PyObject* self, void* unused) {
  (void)unused;
  return PyUnicode_FromString(kp_device_type_name(ReadDevice(self).device_type));
}

static PyObject* GetIndex(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(ReadDevice(self).device_id);
}

static PyObject* GetCode(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(ReadDevice(self).device_type);
}

static PyObject* Str(PyObject* self) {
  const KpDLDevice device = ReadDevice(self);
  return PyUnicode_FromFormat("%s:%d", kp_device_type_name(device.device_type), (int)device.device_id);
}

static PyObject* Repr(PyObject* self) {
  const KpDLDevice device = ReadDevice(self);
  return PyUnicode_FromFormat("kernpack.device(\"%s\", %d)", kp_device_type_name(device.device_type),
                              (int)device.device_id);
}

static Py_hash_t Hash(PyObject* self) {
  const KpDLDevice device = ReadDevice(self);
  return (Py_hash_t)device.device_type * 1000003 + device.device_id + 1;
}

/* One property for each KpDeviceAttrKind, which is the getter's closure. */
static PyObject* GetAttribute(PyObject* self, void* kind) {
  const int32_t attribute = (int32_t)(intptr_t)kind;
  PyObject* value;
  KpAny answer;
  if (kp_device_get_attr(ReadDevice(self), attribute, &answer) != 0) {
    return kpy_raise_host("kernpack.device", -1);
  }
  value = kpy_to_python(&answer, NULL);
  kp_any_release(&answer);
  if (value == NULL || value == Py_None || attribute != KP_ATTR_MAX_THREAD_DIMENSIONS) return value;
  return kpy_helper("thread_dimensions", "(N)", value);
}

static PyObject* GetFact(PyObject* self, void* helper) { return kpy_helper((const char*)helper, "(O)", self); }

static PyObject* GetProperty(PyObject* self, PyObject* name) {
  return kpy_helper("device_property", "(OO)", self, name);
}

static PyObject* Sync(PyObject* self, PyObject* unused) {
  (void)unused;
  return kpy_helper("device_sync", "(O)", self);
}

static PyObject* Reset(PyObject* self, PyObject* unused) {
  (void)unused;
  return kpy_helper("device_reset", "(O)", self);
}

static PyMethodDef kMethods[] = {
    {"__reduce__", kpy_value_reduce, METH_NOARGS, NULL},
    {"get_property", GetProperty, METH_O,
     "get_property($self, name, /)\n--\n\nA property of the backend (see `properties`); None if the device doesn't "
     "have it."},
    {"sync", Sync, METH_NOARGS, "sync($self)\n--\n\nWaits for the work queued on this thread's current stream."},
    {"reset", Reset, METH_NOARGS,
     "reset($self)\n--\n\nFrees stored values, workspaces and pooled memory of the device. Tensors and streams stay."},
    {NULL, NULL, 0, NULL}};
#define ATTRIBUTE(name, kind, doc) {name, GetAttribute, NULL, doc, (void*)(intptr_t)(kind)}
#define FACT(name, helper, doc) {name, GetFact, NULL, doc, (void*)(uintptr_t)(helper)}
static PyGetSetDef kGetSet[] = {
    {"type", GetType, NULL, "The type of device, such as \"cuda\".", NULL},
    {"index", GetIndex, NULL, "The device's number, an int.", NULL},
    {"code", GetCode, NULL, "DLPack's number of the type; don't store it.", NULL},
    ATTRIBUTE("exists", KP_ATTR_EXIST, "Whether there is such a device, a bool."),
    ATTRIBUTE("max_threads_per_block", KP_ATTR_MAX_THREADS_PER_BLOCK, NULL),
    ATTRIBUTE("warp_size", KP_ATTR_WARP_SIZE, "Threads that run in lock step."),
    ATTRIBUTE("max_shared_memory_per_block", KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK, "Bytes."),
    ATTRIBUTE("compute_version", KP_ATTR_COMPUTE_VERSION, "\"9.0\"."),
    ATTRIBUTE("device_name", KP_ATTR_DEVICE_NAME, NULL),
    ATTRIBUTE("max_clock_rate", KP_ATTR_MAX_CLOCK_RATE, "kHz."),
    ATTRIBUTE("multi_processor_count", KP_ATTR_MULTI_PROCESSOR_COUNT, NULL),
    ATTRIBUTE("max_thread_dimensions", KP_ATTR_MAX_THREAD_DIMENSIONS, "(x, y, z)."),
    ATTRIBUTE("max_registers_per_block", KP_ATTR_MAX_REGISTERS_PER_BLOCK, "Registers of 32 bits."),
    ATTRIBUTE("gcn_arch", KP_ATTR_GCN_ARCH, NULL),
    ATTRIBUTE("api_version", KP_ATTR_API_VERSION, "12040 is CUDA 12.4; 300, OpenCL 3.0."),
    ATTRIBUTE("driver_version", KP_ATTR_DRIVER_VERSION, NULL),
    ATTRIBUTE("l2_cache_size_bytes", KP_ATTR_L2_CACHE_SIZE_BYTES, NULL),
    ATTRIBUTE("total_global_memory", KP_ATTR_TOTAL_GLOBAL_MEMORY, "Bytes."),
    ATTRIBUTE("available_global_memory", KP_ATTR_AVAILABLE_GLOBAL_MEMORY, "Bytes that are free now."),
    ATTRIBUTE("image_pitch_alignment", KP_ATTR_IMAGE_PITCH_ALIGNMENT, "Bytes."),
    FACT("memory_scopes", "device_scopes", "Values of `scope`; the first is the default."),
    FACT("properties", "device_properties", "Names for get_property."),
    FACT("capabilities", "device_capabilities", "What the backend can do, a frozenset."),
    {NULL, NULL, NULL, NULL, NULL}};

int kpy_device_init(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, (void*)New},
                         {Py_tp_repr, (void*)Repr},
                         {Py_tp_str, (void*)Str},
                         {Py_tp_hash, (void*)Hash},
                         {Py_tp_richcompare, (void*)Compare},
                         {Py_tp_methods, kMethods},
                         {Py_tp_getset, kGetSet},
                         {Py_tp_doc, "Device(spec, index=None): where a tensor lives."},
                         {0, NULL}};
  return kpy_value_class_init(&g_class, module, "kernpack.Device", slots);
}
