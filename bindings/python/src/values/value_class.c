#include "value_class.h"

#include <string.h>

#include "python/hooks.h"
#include "python/threads.h"

int kpy_value_class_init(KpyValueClass* of, PyObject* module, const char* name, PyType_Slot* slots) {
  PyType_Spec spec = {name, (int)(sizeof(PyObject) + of->size), 0, Py_TPFLAGS_DEFAULT, slots};
  of->type = (PyTypeObject*)PyType_FromSpec(&spec);
  of->known = PyDict_New();
  return of->type == NULL || of->known == NULL
             ? -1
             : PyModule_AddObjectRef(module, strrchr(name, '.') + 1, (PyObject*)of->type);
}

PyObject* kpy_value_new(const KpyValueClass* of, const void* value) {
  PyObject* self = PyType_GenericAlloc(of->type, 0);
  if (self != NULL) memcpy(kpy_value_of(self), value, of->size);
  return self;
}

/* By the name that the helper has for a framework's object, which is asked once an object. 1, 0: it stands for none, -1. */
static int FromForeign(KpyValueClass* of, PyObject* object, void* out) {
  PyObject *name, *ours;
  int is = 0;
  ours = kpy_dict_get(of->known, object);
  if (ours != NULL) {
    memcpy(out, kpy_value_of(ours), of->size);
    Py_DECREF(ours);
    return 1;
  }
  PyErr_Clear(); /* unhashable: the helper still looks */
  name = kpy_helper(of->helper, "(O)", object);
  if (name == NULL) return -1;
  if (name != Py_None) is = of->from_name(name, out);
  Py_DECREF(name);
  if (is != 1) return is;
  ours = kpy_value_new(of, out);
  if (ours == NULL || PyDict_SetItem(of->known, object, ours) != 0) PyErr_Clear();
  Py_XDECREF(ours);
  return 1;
}

int kpy_value_from(KpyValueClass* of, PyObject* object, void* out) {
  int is = 0;
  if (Py_TYPE(object) == of->type) {
    memcpy(out, kpy_value_of(object), of->size);
    return 1;
  }
  if (PyUnicode_Check(object)) return of->from_name(object, out);
  if (of->from_other != NULL) is = of->from_other(object, out);
  return is != 0 ? is : FromForeign(of, object, out);
}

PyObject* kpy_value_compare(KpyValueClass* of, PyObject* a, PyObject* b, int op) {
  union {
    KpDLDevice device;
    KpDLDataType dtype;
  } other; /* no class holds more */
  int is, equal;
  if (op != Py_EQ && op != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  is = kpy_value_from(of, b, &other);
  if (is < 0) PyErr_Clear();
  equal = is == 1 && memcmp(kpy_value_of(a), &other, of->size) == 0;
  return PyBool_FromLong(equal == (op == Py_EQ));
}

/* Pickled as its class, called with its text. */
PyObject* kpy_value_reduce(PyObject* self, PyObject* unused) {
  (void)unused;
  return Py_BuildValue("O(N)", (PyObject*)Py_TYPE(self), PyObject_Str(self));
}
