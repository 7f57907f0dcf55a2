/* Verifies NumPy's array layout once, and reads its dtypes. */
#include "numpy_layout.h"
#include "classes.h"
#include "python/hooks.h"
#include "python/threads.h"

#include <string.h>

typedef struct Layout {
  int state; /* 1: good; -1: another layout */
  PyTypeObject* array_type;
  void** api;
} Layout;

static const Layout* g_layout; /* published; NULL: not looked. Of threads that look at once, the first one's stays */

/* Compares the fields of one array with what its own attributes say. */
static int LayoutHolds(PyObject* array) {
  const NpArray* fields = (const NpArray*)(const void*)array;
  PyObject* facts =
      kpy_helper("numpy_facts", "(O)", array); /* (data, shape, strides, writeable, aligned, char, order, num) */
  long long data;
  PyObject *shape, *strides;
  int writeable, aligned, kind, order, num, good;
  Py_ssize_t i;
  if (facts == NULL || !PyArg_ParseTuple(facts, "LO!O!ppCCi", &data, &PyTuple_Type, &shape, &PyTuple_Type, &strides,
                                         &writeable, &aligned, &kind, &order, &num)) {
    PyErr_Clear();
    Py_XDECREF(facts);
    return 0;
  }
  good = (long long)(intptr_t)fields->data == data && fields->ndim == (int)PyTuple_Size(shape) &&
         !!(fields->flags & NP_WRITEABLE) == writeable && !!(fields->flags & NP_ALIGNED) == aligned &&
         fields->descr->kind == kind && fields->descr->byte_order == order && fields->descr->type_num == num;
  for (i = 0; good && i < PyTuple_Size(shape); ++i) {
    good = fields->dims[i] == PyLong_AsSsize_t(PyTuple_GetItem(shape, i)) &&
           fields->strides[i] == PyLong_AsSsize_t(PyTuple_GetItem(strides, i));
  }
  Py_DECREF(facts);
  return good;
}

static int Verify(Layout* out) {
  PyObject* samples = kpy_helper("numpy_samples", NULL); /* (ndarray type, [arrays], capsule of the C API or None) */
  PyObject *type, *arrays, *capsule;
  Py_ssize_t i;
  int good;
  if (samples == NULL || !PyArg_ParseTuple(samples, "O!O!O", &PyType_Type, &type, &PyList_Type, &arrays, &capsule)) {
    PyErr_Clear();
    Py_XDECREF(samples);
    return -1;
  }
  good = PyList_Size(arrays) > 0;
  for (i = 0; good && i < PyList_Size(arrays); ++i) good = LayoutHolds(PyList_GetItem(arrays, i));
  if (good) {
    Py_INCREF(type);
    out->array_type = (PyTypeObject*)type;
    if (PyCapsule_CheckExact(capsule)) out->api = (void**)PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule));
    PyErr_Clear();
  }
  Py_DECREF(samples);
  return good ? 1 : -1;
}

/* NULL: NumPy isn't loaded. */
static const Layout* Look(void) {
  static Layout kept;
  Layout found = {0, NULL, NULL};
  if (!kpy_is_loaded("numpy")) return NULL;
  found.state = Verify(&found);
  kpy_lock();
  if (g_layout == NULL) {
    kept = found;
    KPY_PUBLISH(g_layout, &kept);
  }
  kpy_unlock();
  return &kept;
}

int kpy_numpy_ready(void) {
  const Layout* layout = KPY_PUBLISHED(g_layout);
  if (KPY_UNLIKELY(layout == NULL)) layout = Look();
  return layout != NULL && layout->state == 1;
}

PyTypeObject* kpy_numpy_array_type(void) { return KPY_PUBLISHED(g_layout)->array_type; }

void* kpy_numpy_api(int index) {
  const Layout* layout = KPY_PUBLISHED(g_layout);
  return layout == NULL || layout->api == NULL ? NULL : layout->api[index];
}

#define INT_OF(type) {KP_DTYPE_INT, 8 * sizeof(type), 1}
#define UINT_OF(type) {KP_DTYPE_UINT, 8 * sizeof(type), 1}

int kpy_numpy_dtype(const NpDescr* descr, KpDLDataType* out) {
  static const KpDLDataType kByNumber[] = {{KP_DTYPE_BOOL, 8, 1},
                                           INT_OF(char),
                                           UINT_OF(char),
                                           INT_OF(short),
                                           UINT_OF(short),
                                           INT_OF(int),
                                           UINT_OF(int),
                                           INT_OF(long),
                                           UINT_OF(long),
                                           INT_OF(long long),
                                           UINT_OF(long long),
                                           {KP_DTYPE_FLOAT, 32, 1},
                                           {KP_DTYPE_FLOAT, 64, 1},
                                           {0, 0, 0},
                                           {KP_DTYPE_COMPLEX, 64, 1},
                                           {KP_DTYPE_COMPLEX, 128, 1}};
  const int kHalf = 23;
  int is;
  if (descr->byte_order == (PY_BIG_ENDIAN ? '<' : '>')) return 0;
  if (descr->type_num >= 0 && descr->type_num < (int)(sizeof(kByNumber) / sizeof(kByNumber[0]))) {
    *out = kByNumber[descr->type_num];
    return out->bits != 0;
  }
  if (descr->type_num == kHalf) {
    const KpDLDataType half = {KP_DTYPE_FLOAT, 16, 1};
    *out = half;
    return 1;
  }
  if (descr->type_num < NP_FIRST_USER_TYPE) return 0; /* object, strings, datetimes, records */
  is = kpy_dtype_from((PyObject*)descr->scalar_type, out);
  if (is < 0 && PyErr_ExceptionMatches(PyExc_ValueError)) {
    PyErr_Clear(); /* a dtype that nobody knows, as ml_dtypes' int1: the caller's words for it name the argument */
    return 0;
  }
  /* ml_dtypes keeps one 4-bit value a byte, which is not how kernels count. */
  return is == 1 && out->bits < 8 ? 0 : is;
}
