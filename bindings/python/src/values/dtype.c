/* kernpack.DType: an element type as kernels see it. */
#include <string.h>

#include <kernpack/dtype_table.h>

#include "api/api.h"
#include "classes.h"
#include "python/errors.h"
#include "value_class.h"

static int FromName(PyObject* text, void* out) {
  KpBytes name;
  Py_ssize_t size;
  name.data = PyUnicode_AsUTF8AndSize(text, &size);
  if (name.data == NULL) return -1;
  name.size = (size_t)size;
  if (kp_dtype_from_name(name, (KpDLDataType*)out) == 0) return 1;
  (void)kpy_raise_host("kernpack.dtype", -1);
  return -1;
}

static KpyValueClass g_class = {sizeof(KpDLDataType), FromName, NULL, "dtype_name", NULL, NULL};

PyObject* kpy_dtype_new(KpDLDataType dtype) { return kpy_value_new(&g_class, &dtype); }
int kpy_dtype_from(PyObject* object, KpDLDataType* out) { return kpy_value_from(&g_class, object, out); }
static KpDLDataType ReadDType(PyObject* self) { return *(KpDLDataType*)kpy_value_of(self); }
static const char* ReadName(PyObject* self) { return kp_dtype_name(ReadDType(self)); }
static PyObject* Compare(PyObject* a, PyObject* b, int op) { return kpy_value_compare(&g_class, a, b, op); }

/* "f8_e4m3fn" -> "float8_e4m3fn": what NumPy, ml_dtypes, torch and JAX call it. A name that the table lacks stays as it is. */
PyObject* kpy_api_dtype_word(KpBytes name) {
  static const char* const words[][2] = {
#define WORD(constant, name, word, code, bits) {name, word},
      KP_DTYPES(WORD) KP_FOREIGN_DTYPES(WORD)
#undef WORD
  };
  size_t i;
  for (i = 0; i < sizeof words / sizeof *words; ++i) {
    if (strcmp(name.data, words[i][0]) == 0) return PyUnicode_FromString(words[i][1]);
  }
  return PyUnicode_FromStringAndSize(name.data, (Py_ssize_t)name.size);
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

static PyObject* GetName(PyObject* self, void* unused) {
  (void)unused;
  return PyUnicode_FromString(ReadName(self));
}

static PyObject* GetBits(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong((long)ReadDType(self).bits * ReadDType(self).lanes);
}

static PyObject* GetItemsize(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(((long)ReadDType(self).bits * ReadDType(self).lanes + 7) / 8);
}

static PyObject* Str(PyObject* self) { return PyUnicode_FromString(ReadName(self)); }
static PyObject* Repr(PyObject* self) { return PyUnicode_FromFormat("kernpack.dtype(\"%s\")", ReadName(self)); }

static Py_hash_t Hash(PyObject* self) {
  const KpDLDataType dtype = ReadDType(self);
  return (Py_hash_t)dtype.code * 65537 + dtype.bits * 257 + dtype.lanes;
}

static PyMethodDef kMethods[] = {{"__reduce__", kpy_value_reduce, METH_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
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
  return kpy_value_class_init(&g_class, module, "kernpack.DType", slots);
}
