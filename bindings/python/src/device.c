/* kernpack.Device: (kind, index) as kernels see devices, and what its backend tells of it. */
#include <kernpack/host/device.h>

#include "classes.h"
#include "errors.h"
#include "hooks.h"
#include "values.h"

typedef struct KpyDevice {
  PyObject_HEAD KpDLDevice device;
} KpyDevice;

static PyTypeObject* g_type;

PyObject* kpy_device_new(KpDLDevice device) {
  KpyDevice* self = (KpyDevice*)PyType_GenericAlloc(g_type, 0);
  if (self != NULL) self->device = device;
  return (PyObject*)self;
}

/* Backends that installed packages offer are looked up when a name is not known without them. Whether there were any. */
static int LoadInstalledBackends(void) {
  PyObject* loaded = kpy_helper("load_installed_backends", "()");
  const int any = loaded == Py_True;
  if (loaded == NULL) PyErr_Clear();
  Py_XDECREF(loaded);
  return any;
}

static int FromName(PyObject* text, KpDLDevice* out) {
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
static int FromTuple(PyObject* tuple, KpDLDevice* out) {
  PyObject* kind = PyTuple_Size(tuple) == 2 ? PyTuple_GetItem(tuple, 0) : NULL;
  PyObject* index = kind == NULL ? NULL : PyTuple_GetItem(tuple, 1);
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

static PyObject* Named(PyObject* name) {
  KpDLDevice device;
  return FromName(name, &device) == 1 ? kpy_device_new(device) : NULL;
}

static int FromForeign(PyObject* object, KpDLDevice* out) {
  static PyObject* known;
  PyObject* found = kpy_foreign(&known, object, "device_name", Named);
  if (found == NULL) return PyErr_Occurred() ? -1 : 0;
  *out = ((KpyDevice*)found)->device;
  Py_DECREF(found);
  return 1;
}

int kpy_device_from(PyObject* object, KpDLDevice* out) {
  if (Py_TYPE(object) == g_type) {
    *out = ((KpyDevice*)object)->device;
    return 1;
  }
  if (PyUnicode_Check(object)) return FromName(object, out);
  return PyTuple_Check(object) ? FromTuple(object, out) : FromForeign(object, out);
}

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
  return PyUnicode_FromString(kp_device_type_name(((KpyDevice*)self)->device.device_type));
}

static PyObject* GetIndex(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(((KpyDevice*)self)->device.device_id);
}

static PyObject* GetCode(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(((KpyDevice*)self)->device.device_type);
}

static PyObject* Str(PyObject* self) {
  const KpDLDevice device = ((KpyDevice*)self)->device;
  return PyUnicode_FromFormat("%s:%d", kp_device_type_name(device.device_type), (int)device.device_id);
}

static PyObject* Repr(PyObject* self) {
  const KpDLDevice device = ((KpyDevice*)self)->device;
  return PyUnicode_FromFormat("kernpack.device(\"%s\", %d)", kp_device_type_name(device.device_type),
                              (int)device.device_id);
}

static Py_hash_t Hash(PyObject* self) {
  const KpDLDevice device = ((KpyDevice*)self)->device;
  return (Py_hash_t)device.device_type * 1000003 + device.device_id + 1;
}

static PyObject* Compare(PyObject* a, PyObject* b, int op) {
  KpDLDevice other, self = ((KpyDevice*)a)->device;
  int is, equal;
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  is = kpy_device_from(b, &other);
  if (is < 0) PyErr_Clear();
  equal = is == 1 && self.device_type == other.device_type && self.device_id == other.device_id;
  return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject* Reduce(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_BuildValue("O(N)", (PyObject*)g_type, Str(self));
}

/* One property for each KpDeviceAttrKind, which is the getter's closure. */
static PyObject* GetAttribute(PyObject* self, void* kind) {
  const int32_t attribute = (int32_t)(intptr_t)kind;
  PyObject* value;
  KpAny answer;
  if (kp_device_get_attr(((KpyDevice*)self)->device, attribute, &answer) != 0) {
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
    {"__reduce__", Reduce, METH_NOARGS, NULL},
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
  PyType_Spec spec = {"kernpack.Device", sizeof(KpyDevice), 0, Py_TPFLAGS_DEFAULT, slots};
  g_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return g_type == NULL ? -1 : PyModule_AddObjectRef(module, "Device", (PyObject*)g_type);
}
