/* Results for CuPy and its like: their module's own empty(), else from_dlpack() of a tensor of ours. */
#include "classes.h"
#include "call/frame.h"
#include "python/hooks.h"
#include "python/threads.h"

static PyObject* ShapeTuple(const KpDLTensor* tensor) {
  PyObject* shape = PyTuple_New(tensor->ndim);
  int32_t i;
  for (i = 0; shape != NULL && i < tensor->ndim; ++i) {
    PyTuple_SetItem(shape, i, PyLong_FromLongLong(tensor->shape[i]));
  }
  return shape;
}

/* Reads the array that the framework made, as any argument is read. */
static int ReadBack(KpyCall* call, PyObject* array, KpAny* out) {
  KpySlot slot;
  int rc;
  if (kpy_resolve_type(array, KP_PARAM_TENSOR, &slot) < 0) return -1;
  call->argument = "result";
  call->flags = KP_PARAM_MUTATED;
  rc = slot.convert(call, &slot, array, out);
  if (rc == KPY_DIVERT)
    PyErr_SetString(PyExc_TypeError, "kernpack: the framework's empty() returned an array without ordinary memory");
  return rc == KPY_OK ? 0 : -1;
}

static int Allocate(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out) {
  PyObject *shape = ShapeTuple(prototype), *array;
  if (shape == NULL) return -1;
  array = kpy_helper("empty_like_producer", "OOsii", family->type, shape, kp_dtype_name(prototype->dtype),
                     prototype->device.device_type, prototype->device.device_id);
  Py_DECREF(shape);
  if (array == NULL) return -1;
  if (array == Py_None) { /* its module has no empty(): a tensor of ours, handed over by from_dlpack at the end */
    Py_DECREF(array);
    return kpy_own_family()->allocate(call, kpy_own_family(), prototype, index, out);
  }
  if (ReadBack(call, array, out) != 0) {
    Py_DECREF(array);
    return -1;
  }
  call->results[index] = array;
  return 0;
}

static PyObject* ToProducer(const KpyFamily* family, PyObject* stolen) {
  PyObject* array = kpy_helper("hand_to_producer", "OO", family->type, stolen);
  Py_DECREF(stolen);
  return array;
}

static PyObject* Finish(KpyCall* call, const KpyFamily* family, int32_t index) {
  return ToProducer(family, (PyObject*)call->results[index]);
}

static void Discard(KpyCall* call, int32_t index) { Py_DECREF((PyObject*)call->results[index]); }

static PyObject* Wrap(const KpyFamily* family, KpObject* tensor) {
  PyObject* own = kpy_tensor_from_object(tensor);
  return own == NULL ? NULL : ToProducer(family, own);
}

static KpyFamily* g_families[16]; /* the lock guards both */
static int g_count;

/* The lock is held. */
static const KpyFamily* Known(const PyTypeObject* type) {
  int i;
  for (i = 0; i < g_count; ++i) {
    if (g_families[i]->type == type) return g_families[i];
  }
  return NULL;
}

const KpyFamily* kpy_dlpack_family(PyTypeObject* type) {
  const KpyFamily* known;
  KpyFamily* family;
  kpy_lock();
  known = Known(type);
  kpy_unlock();
  if (known != NULL) return known;
  family = (KpyFamily*)PyMem_Calloc(1, sizeof(KpyFamily));
  if (family == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  Py_INCREF((PyObject*)type);
  family->name = "dlpack";
  family->type = type;
  family->allocate = Allocate;
  family->finish = Finish;
  family->discard = Discard;
  family->wrap = Wrap;
  kpy_lock();
  known = Known(type); /* another thread may have made one meanwhile: a leak of one record */
  if (known == NULL && g_count < (int)(sizeof g_families / sizeof *g_families)) g_families[g_count++] = family;
  kpy_unlock();
  return known != NULL ? known : family;
}
