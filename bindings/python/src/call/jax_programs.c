/* Eager JAX calls that were made before go straight to their compiled program: a cached jax.jit, which itself tells shapes,
 * dtypes and devices apart. kernpack.jax registers a program for the static arguments it was compiled for. */
#include <string.h>

#include "api/api.h"
#include "call_entry.h"
#include "function.h"
#include "locals.h"
#include "python/threads.h"

enum { MOST_PROGRAMS = 16 }; /* of one function; beyond, the oldest goes */

struct KpyJaxProgram {
  KpyJaxProgram* next;
  PyObject* program;
  PyObject* kwnames; /* tuple; NULL: no keywords */
  PyObject** values; /* length count, as they were given; NULL: an array */
  int32_t* order; /* length num_arrays: which argument each array of the program is */
  Py_ssize_t nargs; /* positional */
  Py_ssize_t count; /* with keywords */
  Py_ssize_t num_arrays;
  int waits; /* an error that the kernel raises belongs to this call */
};

static PyTypeObject* g_array; /* of JAX's eager arrays; NULL: kernpack.jax is not loaded */
static PyObject* g_restored; /* callable(exception) -> the one to raise */

static PyObject* g_block_until_ready; /* the method's name, interned */

int kpy_jax_init(void) {
  g_block_until_ready = PyUnicode_InternFromString("block_until_ready");
  return g_block_until_ready == NULL ? -1 : 0;
}

static void Free(KpyJaxProgram* p) {
  Py_ssize_t i;
  if (p == NULL) return;
  for (i = 0; p->values != NULL && i < p->count; ++i) Py_XDECREF(p->values[i]);
  Py_XDECREF(p->program);
  Py_XDECREF(p->kwnames);
  PyMem_Free(p->values);
  PyMem_Free(p->order);
  PyMem_Free(p);
}

/* True if two static arguments mean the same program. -0.0 is not 0.0, NaN is NaN, and True is not 1. */
static int Same(PyObject* a, PyObject* b) {
  if (a == b) return 1;
  if (Py_TYPE(a) != Py_TYPE(b)) return 0;
  if (PyFloat_CheckExact(a)) {
    const double x = PyFloat_AsDouble(a), y = PyFloat_AsDouble(b);
    return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
  }
  if (PyLong_CheckExact(a) || PyUnicode_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
  return 0;
}

static int IsStatic(PyObject* value) {
  return value == Py_None || PyBool_Check(value) || PyLong_CheckExact(value) || PyFloat_CheckExact(value) ||
         PyUnicode_CheckExact(value);
}

/* Of as many names. */
static int SameNames(PyObject* a, PyObject* b) {
  Py_ssize_t i;
  if (a == b) return 1; /* none, or the one tuple of a call site */
  for (i = 0; i < PyTuple_Size(a); ++i) {
    PyObject *x = PyTuple_GetItem(a, i), *y = PyTuple_GetItem(b, i);
    if (x != y && PyUnicode_Compare(x, y) != 0) return 0;
  }
  return 1;
}

static int Fits(const KpyJaxProgram* p, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Py_ssize_t i;
  if (p->nargs != nargs || (p->kwnames == NULL) != (kwnames == NULL)) return 0;
  if (kwnames != NULL && p->count != nargs + PyTuple_Size(kwnames)) return 0;
  for (i = 0; i < p->count; ++i) {
    if (p->values[i] == NULL ? Py_TYPE(args[i]) != KPY_PUBLISHED(g_array) : !Same(p->values[i], args[i])) return 0;
  }
  return SameNames(p->kwnames, kwnames);
}

static PyObject* Wait(PyObject* outputs) {
  Py_ssize_t i, count = PyTuple_Size(outputs);
  for (i = 0; i < count; ++i) {
    PyObject *output = PyTuple_GetItem(outputs, i), *ready;
    if (Py_TYPE(output) != KPY_PUBLISHED(g_array)) continue; /* a constant of what is being traced never is */
    ready = PyObject_CallMethodObjArgs(output, g_block_until_ready, NULL);
    if (ready == NULL) return NULL;
    Py_DECREF(ready);
  }
  return outputs;
}

/* None, one array, or the tuple; consumes the tuple. */
static PyObject* Unpacked(PyObject* outputs) {
  const Py_ssize_t count = PyTuple_Size(outputs);
  PyObject* answer = count == 0 ? Py_None : PyTuple_GetItem(outputs, 0);
  if (count > 1) return outputs;
  Py_INCREF(answer);
  Py_DECREF(outputs);
  return answer;
}

/* The exception in flight as what the kernel raised, where JAX wrapped that. */
static void RestoreError(void) {
  PyObject *type, *value, *trace, *restored;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  restored = PyObject_CallFunctionObjArgs(KPY_PUBLISHED(g_restored), value, NULL);
  if (restored == NULL || restored == value) {
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
  } else {
    PyErr_SetObject((PyObject*)Py_TYPE(restored), restored);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }
  Py_XDECREF(restored);
}

static PyObject* Run(const KpyJaxProgram* p, PyObject* const* args) {
  PyObject *program = p->program, *arrays = PyTuple_New(p->num_arrays), *outputs;
  const int waits = p->waits;
  Py_ssize_t i;
  if (arrays == NULL) return NULL;
  for (i = 0; i < p->num_arrays; ++i) {
    PyObject* array = args[p->order[i]];
    Py_INCREF(array);
    (void)PyTuple_SetItem(arrays, i, array); /* cannot fail: the tuple is new */
  }
  Py_INCREF(program); /* from here on *p may be gone */
  outputs = PyObject_Call(program, arrays, NULL);
  Py_DECREF(program);
  if (outputs != NULL && waits && Wait(outputs) == NULL) {
    Py_DECREF(outputs);
    outputs = NULL;
  }
  Py_DECREF(arrays);
  if (outputs != NULL) return Unpacked(outputs);
  RestoreError();
  return NULL;
}

int kpy_jax_call(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** answer) {
  const KpyLocal* local = kpy_local(f);
  const KpyJaxProgram* p;
  if (local == NULL) {
    *answer = NULL;
    return 1;
  }
  for (p = local->jax_programs; p != NULL; p = p->next) {
    if (!Fits(p, args, nargs, kwnames)) continue;
    *answer = Run(p, args);
    return 1;
  }
  return 0;
}

/* ---- what kernpack.jax tells ---- */

static KpyJaxProgram* New(PyObject* program, PyObject* values, PyObject* kwnames, PyObject* order, int waits) {
  KpyJaxProgram* p = (KpyJaxProgram*)PyMem_Calloc(1, sizeof(KpyJaxProgram));
  const Py_ssize_t keywords = PyTuple_Size(kwnames);
  Py_ssize_t i;
  if (p == NULL) return NULL;
  p->count = PyTuple_Size(values);
  p->nargs = p->count - keywords;
  p->num_arrays = PyTuple_Size(order);
  p->waits = waits;
  p->values = (PyObject**)PyMem_Calloc((size_t)p->count + 1, sizeof(PyObject*));
  p->order = (int32_t*)PyMem_Calloc((size_t)p->num_arrays + 1, sizeof(int32_t));
  if (p->values == NULL || p->order == NULL) {
    Free(p);
    return NULL;
  }
  for (i = 0; i < p->count; ++i) {
    PyObject* value = PyTuple_GetItem(values, i);
    if (Py_TYPE(value) == KPY_PUBLISHED(g_array)) continue;
    Py_INCREF(value);
    p->values[i] = value;
  }
  for (i = 0; i < p->num_arrays; ++i) p->order[i] = (int32_t)PyLong_AsLong(PyTuple_GetItem(order, i));
  Py_INCREF(program);
  p->program = program;
  if (keywords > 0) {
    Py_INCREF(kwnames);
    p->kwnames = kwnames;
  }
  return p;
}

static int IsSound(PyObject* values, PyObject* kwnames, PyObject* order) {
  const Py_ssize_t count = PyTuple_Size(values);
  Py_ssize_t i;
  if (KPY_PUBLISHED(g_array) == NULL || PyTuple_Size(kwnames) > count) return 0;
  for (i = 0; i < PyTuple_Size(order); ++i) {
    const long at = PyLong_AsLong(PyTuple_GetItem(order, i));
    if (at < 0 || at >= count) return 0;
  }
  for (i = 0; i < count; ++i) {
    PyObject* value = PyTuple_GetItem(values, i);
    if (Py_TYPE(value) != KPY_PUBLISHED(g_array) && !IsStatic(value)) return 0;
  }
  return 1;
}

PyObject* kpy_api_jax_remember(KpyFunction* f, PyObject* values, PyObject* kwnames, PyObject* order, PyObject* program,
                               int waits) {
  KpyLocal* local = kpy_local(f);
  KpyJaxProgram *p, **link;
  int length = 0;
  if (local == NULL) return NULL;
  if (!IsSound(values, kwnames, order)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "jax_remember: the arguments do not fit each other");
    return NULL;
  }
  p = New(program, values, kwnames, order, waits);
  if (p == NULL) return PyErr_NoMemory();
  p->next = local->jax_programs;
  local->jax_programs = p;
  kpy_lock();
  f->has_jax_programs = 1;
  kpy_choose_entry(f);
  kpy_unlock();
  for (link = &p->next; *link != NULL; link = &(*link)->next) {
    if (++length < MOST_PROGRAMS) continue;
    p = *link;
    *link = NULL;
    Free(p);
    break;
  }
  Py_RETURN_NONE;
}

PyObject* kpy_api_jax_arrays(PyTypeObject* array, PyObject* restored) {
  Py_INCREF((PyObject*)array); /* kept, as are the programs, until the process ends */
  Py_INCREF(restored);
  KPY_PUBLISH(g_restored, restored);
  KPY_PUBLISH(g_array, array); /* the last: programs are kept where it's there */
  return kpy_done(0);
}
