/* The base of kernpack.Device and kernpack.DType: immutable objects that hold one small value, and take frameworks' objects for it. */
#ifndef KERNPACK_PYTHON_VALUES_VALUE_CLASS_H_
#define KERNPACK_PYTHON_VALUES_VALUE_CLASS_H_

#include "python/base.h"

typedef struct KpyValueClass {
  size_t size; /* of the value, which has no padding */
  int (*from_name)(PyObject* text, void* out); /* 1, or -1 */
  int (*from_other)(PyObject* object,
                    void* out); /* nullable: what else stands for a value; 1, 0: not this object, -1 */
  const char* helper; /* of kernpack._core_helpers: what a framework's object is called, or None */
  PyTypeObject* type; /* from kpy_value_class_init */
  PyObject* known; /* frameworks' objects that were met, and ours: {theirs: ours} */
} KpyValueClass;

typedef struct KpyValue {
  PyObject_HEAD char value[]; /* as aligned as PyObject */
} KpyValue;

static inline void* kpy_value_of(PyObject* object) { return ((KpyValue*)object)->value; }

KPY_HIDDEN int kpy_value_class_init(KpyValueClass* of, PyObject* module, const char* name, PyType_Slot* slots);
KPY_HIDDEN PyObject* kpy_value_new(const KpyValueClass* of, const void* value); /* a new reference */
KPY_HIDDEN int kpy_value_from(KpyValueClass* of, PyObject* object, void* out); /* 1, 0: it stands for none, -1 */
/* Python's operators and methods, for the classes to hand on. */
KPY_HIDDEN PyObject* kpy_value_compare(KpyValueClass* of, PyObject* a, PyObject* b, int op);
KPY_HIDDEN PyObject* kpy_value_reduce(PyObject* self, PyObject* unused);

#endif /* KERNPACK_PYTHON_VALUES_VALUE_CLASS_H_ */
