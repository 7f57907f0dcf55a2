/* NumPy arrays, read without NumPy's headers. The layout has held from NumPy 1.x to 2.x; it is verified against
 * __array_interface__ when NumPy is first seen, and not used if that fails. */
#ifndef KERNPACK_PYTHON_VALUES_NUMPY_LAYOUT_H_
#define KERNPACK_PYTHON_VALUES_NUMPY_LAYOUT_H_

#include "python/base.h"

typedef struct NpDescr {
  PyObject_HEAD PyTypeObject* scalar_type;
  char kind;
  char type;
  char byte_order; /* '=' native, '<', '>', '|' does not apply */
  char former_flags;
  int type_num;
} NpDescr;

typedef struct NpArray {
  PyObject_HEAD char* data;
  int ndim;
  Py_ssize_t* dims;
  Py_ssize_t* strides; /* bytes */
  PyObject* base;
  NpDescr* descr;
  int flags;
} NpArray;

enum { NP_ALIGNED = 0x100, NP_WRITEABLE = 0x400, NP_FIRST_USER_TYPE = 256 };

/* 1 when the layout holds; 0 when NumPy is not loaded or its layout is another. Cheap after the first time. */
KPY_HIDDEN int kpy_numpy_ready(void);
/* numpy.ndarray, borrowed; only after kpy_numpy_ready said 1. */
KPY_HIDDEN PyTypeObject* kpy_numpy_array_type(void);
/* Entry of NumPy's C-API table (its indices are NumPy's promise); NULL when the table was not found. */
KPY_HIDDEN void* kpy_numpy_api(int index);
/* The dtype of an array's elements: 1, 0 when kernels have none like it, -1 on error. */
KPY_HIDDEN int kpy_numpy_dtype(const NpDescr* descr, KpDLDataType* out);

#endif /* KERNPACK_PYTHON_VALUES_NUMPY_LAYOUT_H_ */
