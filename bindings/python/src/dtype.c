/* kernpack.DType: an element type as kernels see it. */
#include "classes.h"
#include "errors.h"
#include "hooks.h"

typedef struct KpyDType {
  PyObject_HEAD KpDLDataType dtype;
} KpyDType;

static PyTypeObject* g_type;

PyObject* kpy_dtype_new(KpDLDataType dtype) {
  KpyDType* self = (KpyDType*)PyType_GenericAlloc(g_type, 0);
  if (self != NULL) self->dtype = dtype;
  return (PyObject*)self;
}

static int FromName(PyObject* text, KpDLDataType* out) {
  KpBytes name;
  Py_ssize_t size;
  name.data = PyUnicode_AsUTF8AndSize(text, &size);
  if (name.data == NULL) return -1;
  name.size = (size_t)size;
  if (kp_dtype_from_name(name, out) == 0) return 1;
  (void)kpy_raise_host("kernpack.dtype", -1);
  return -1;
}

static PyObject* Named(PyObject* name) {
  KpDLDataType dtype;
  return FromName(name, &dtype) == 1 ? kpy_dtype_new(dtype) : NULL;
}

static int FromForeign(PyObject* object, KpDLDataType* out) {
  static PyObject* known;
  PyObject* found = kpy_foreign(&known, object, "dtype_name", Named);
  if (found == NULL) return PyErr_Occurred() ? -1 : 0;
  *out = ((KpyDType*)found)->dtype;
  Py_DECREF(found);
  return 1;
}

int kpy_dtype_from(PyObject* object, KpDLDataType* out) {
  if (Py_TYPE(object) == g_type) {
    *out = ((KpyDType*)object)->dtype;
    return 1;
  }
  if (PyUnicode_Check(object)) return FromName(object, out);
  return FromForeign(object, out);
}

static PyObject* New(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"spec", NULL};
  PyObject* spec;
  KpDLDataType dtype;
  int is;
  (void)type;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:DType", names, &spec)) return NULL;
  is = kpy_dtype_from(spec, &dtype);
  if (is < 0) return NULL;
  if (is == 0) return PyErr_Format(PyExc_TypeError, "DType: expected a dtype, such as \"f32\", got %R", spec);
  return kpy_dtype_new(dtype);
}

static const char* NameOf(PyObject* self) { return kp_dtype_name(((KpyDType*)self)->dtype); }

static PyObject* GetName(PyObject* self, void* unused) {
  (void)unused;
  return PyUnicode_FromString(NameOf(self));
}

static PyObject* GetBits(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong((long)((KpyDType*)self)->dtype.bits * ((KpyDType*)self)->dtype.lanes);
}

static PyObject* GetItemsize(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(((long)((KpyDType*)self)->dtype.bits * ((KpyDType*)self)->dtype.lanes + 7) / 8);
}

static PyObject* Str(PyObject* self) { return PyUnicode_FromString(NameOf(self)); }
static PyObject* Repr(PyObject* self) { return PyUnicode_FromFormat("kernpack.dtype(\"%s\")", NameOf(self)); }

static Py_hash_t Hash(PyObject* self) {
  const KpDLDataType dtype = ((KpyDType*)self)->dtype;
  return (Py_hash_t)dtype.code * 65537 + dtype.bits * 257 + dtype.lanes;
}

static PyObject* Compare(PyObject* a, PyObject* b, int op) {
  KpDLDataType other, self = ((KpyDType*)a)->dtype;
  int is, equal;
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  is = kpy_dtype_from(b, &other);
  if (is < 0) PyErr_Clear();
  equal = is == 1 && self.code == other.code && self.bits == other.bits && self.lanes == other.lanes;
  return PyBool_FromLong(equal == (op == Py_EQ));
}

static PyObject* Reduce(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_BuildValue("O(s)", (PyObject*)g_type, NameOf(self));
}

static PyMethodDef kMethods[] = {{"__reduce__", Reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef kGetSet[] = {{"name", GetName, NULL, "As signatures spell it, \"f32\".", NULL},
                                {"bits", GetBits, NULL, "Bits of one element.", NULL},
                                {"itemsize", GetItemsize, NULL, "Bytes of one element, rounded up.", NULL},
                                {NULL, NULL, NULL, NULL, NULL}};

int kpy_dtype_init(PyObject* module) {
  PyType_Slot slots[] = {{Py_tp_new, (void*)New},
                         {Py_tp_repr, (void*)Repr},
                         {Py_tp_str, (void*)Str},
                         {Py_tp_hash, (void*)Hash},
                         {Py_tp_richcompare, (void*)Compare},
                         {Py_tp_methods, kMethods},
                         {Py_tp_getset, kGetSet},
                         {Py_tp_doc, "DType(spec): an element type, \"f32\" or any framework's."},
                         {0, NULL}};
  PyType_Spec spec = {"kernpack.DType", sizeof(KpyDType), 0, Py_TPFLAGS_DEFAULT, slots};
  g_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return g_type == NULL ? -1 : PyModule_AddObjectRef(module, "DType", (PyObject*)g_type);
}
