/* A call below autograd and below what counts writes: torch's guard for this thread, made once and used again, and the operator's own
 * call. All that watches operators sees the call; that autograd has nothing to do was asked before (way_torch.h). */
#include "below_torch.h"

#include "api/api.h"
#include "call/call_entry.h"
#include "call/function.h"
#include "guard_torch.h"
#include "python/hooks.h"
#include "python/threads.h"
#include "way_torch.h"

/* A guard, as arguments of its two methods. */
typedef struct Guard {
  PyObject* enter; /* (guard,) */
  PyObject* leave; /* (guard, None, None, None) */
} Guard;

/* Published after the others: NULL until kernpack.torch is imported. */
static PyObject* g_guard; /* the class */
static PyObject *g_enter, *g_leave; /* its methods */
static PyObject* g_is_tracing; /* () -> whether torch.jit.trace records */
static PyObject* g_raise_as_meant; /* (error) raises what a kernel meant by a RuntimeError; else returns */

enum { kSpareGuards = 8 }; /* calls in calls, and other threads: more than these are made anew */
static Guard* g_spare[kSpareGuards];

PyObject* kpy_api_torch_below_by(PyObject* guard, PyObject* raise_as_meant, PyObject* is_tracing) {
  PyObject* enter = PyObject_GetAttrString(guard, "__enter__");
  PyObject* leave = enter == NULL ? NULL : PyObject_GetAttrString(guard, "__exit__");
  if (leave == NULL) {
    Py_XDECREF(enter);
    return NULL;
  }
  Py_INCREF(raise_as_meant); /* all are kept until the process ends */
  Py_INCREF(guard);
  Py_INCREF(is_tracing);
  g_is_tracing = is_tracing;
  g_enter = enter;
  g_leave = leave;
  g_raise_as_meant = raise_as_meant;
  KPY_PUBLISH(g_guard, guard);
  return kpy_done(0);
}

static void FreeGuard(Guard* guard) {
  if (guard == NULL) return;
  Py_XDECREF(guard->enter);
  Py_XDECREF(guard->leave);
  PyMem_Free(guard);
}

/* A guard that is entered; NULL with an error. */
static Guard* Enter(void) {
  Guard* guard = NULL;
  PyObject *object, *entered;
  int i;
  for (i = 0; guard == NULL && i < kSpareGuards; ++i) {
    if (__atomic_load_n(&g_spare[i], __ATOMIC_RELAXED) != NULL)
      guard = __atomic_exchange_n(&g_spare[i], NULL, __ATOMIC_ACQ_REL);
  }
  if (guard == NULL) {
    guard = (Guard*)PyMem_Calloc(1, sizeof(Guard));
    if (guard == NULL) return (Guard*)PyErr_NoMemory();
    object = PyObject_CallNoArgs(g_guard);
    if (object != NULL) {
      guard->enter = PyTuple_Pack(1, object);
      guard->leave = PyTuple_Pack(4, object, Py_None, Py_None, Py_None);
      Py_DECREF(object);
    }
  }
  entered = guard->enter == NULL || guard->leave == NULL ? NULL : PyObject_Call(g_enter, guard->enter, NULL);
  if (entered == NULL) {
    FreeGuard(guard);
    return NULL;
  }
  Py_DECREF(entered);
  return guard;
}

/* An error in flight stays. */
static void Leave(Guard* guard) {
  PyObject *type, *value, *trace, *left;
  int i;
  PyErr_Fetch(&type, &value, &trace);
  left = PyObject_Call(g_leave, guard->leave, NULL);
  if (left == NULL) PyErr_WriteUnraisable(g_leave);
  Py_XDECREF(left);
  for (i = 0; guard != NULL && i < kSpareGuards; ++i) {
    Guard* empty = NULL;
    if (__atomic_compare_exchange_n(&g_spare[i], &empty, guard, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) guard = NULL;
  }
  FreeGuard(guard);
  PyErr_Restore(type, value, trace);
}

/* ---- what may follow the call ---- */

typedef struct Found {
  PyObject* first; /* tensor, borrowed; NULL: none */
  int requires_grad; /* a tensor does */
} Found;

/* 1 if the object is torch's own tensor, or None. */
static int NoteTensor(Found* found, PyObject* object) {
  if (object == Py_None) return 1;
  if (!kpy_torch_is_plain(Py_TYPE(object))) return 0;
  if (found->first == NULL) found->first = object;
  found->requires_grad |= kpy_torch_requires_grad(object);
  return 1;
}

/* 1 if torch reads the object as it is, and nothing of it can follow the call. */
static int IsPlainValue(uint32_t kind, PyObject* object) {
  if (object == Py_None || PyBool_Check(object)) return 1;
  if (kind == KP_PARAM_DTYPE || kind == KP_PARAM_DEVICE) return kpy_torch_is_own_value(object);
  return PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyUnicode_CheckExact(object);
}

static int NoteValue(Found* found, const KpyParam* param, PyObject* value) {
  const int is_tensor = param->kind == KP_PARAM_TENSOR;
  Py_ssize_t i, count;
  if (!(param->flags & KP_PARAM_LIST) || value == Py_None)
    return is_tensor ? NoteTensor(found, value) : IsPlainValue(param->kind, value);
  if (!PyList_CheckExact(value)) return 0;
  count = PyList_Size(value);
  for (i = 0; i < count; ++i) {
    PyObject* item = PyList_GetItem(value, i); /* borrowed: asked at once, and kept by the list */
    if (item == NULL || !(is_tensor ? NoteTensor(found, item) : IsPlainValue(param->kind, item))) {
      PyErr_Clear();
      return 0;
    }
  }
  return 1;
}

/* Of a call with these values, one a parameter; NULL stands for one that isn't given. */
static KpyTorchWay WayOf(KpyFunction* f, PyObject* const* values, int may_record) {
  Found found = {NULL, 0};
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    if (values[i] != NULL && !NoteValue(&found, &f->params[i], values[i])) return KPY_TORCH_ASK;
  }
  if (found.first == NULL) return KPY_TORCH_ASK;
  if (!may_record && found.requires_grad && kpy_torch_records()) return KPY_TORCH_ASK;
  return kpy_torch_way_of(found.first, found.requires_grad);
}

/* A trace names the lines of Python that call operators, and compares two runs of a program by them: the first call of a function in a
 * process has a frame of ours, so each call in a trace has. */
static int IsTracing(void) {
  PyObject* answer = PyObject_CallNoArgs(g_is_tracing);
  const int traced = answer != Py_False;
  if (answer == NULL) PyErr_Clear();
  Py_XDECREF(answer);
  return traced;
}

static int CountWrites(KpyFunction* f, PyObject* const* values) {
  int32_t i;
  for (i = 0; i < f->num_params; ++i) {
    PyObject* value = values[i];
    Py_ssize_t k, count;
    if (!(f->params[i].flags & KP_PARAM_MUTATED) || value == NULL || value == Py_None) continue;
    if (!(f->params[i].flags & KP_PARAM_LIST)) {
      if (kpy_torch_note_write(value) != 0) return -1;
      continue;
    }
    count = PyList_Size(value);
    for (k = 0; k < count; ++k) {
      PyObject* item = PyList_GetItem(value, k);
      if (item == NULL || kpy_torch_note_write(item) != 0) return -1;
    }
  }
  return 0;
}

/* ---- the call ---- */

static void RaiseAsMeant(KpyFunction* f, PyObject* tuple, PyObject* dict) {
  PyObject *type, *value, *trace, *answer;
  if (PyErr_ExceptionMatches(PyExc_RuntimeError)) {
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    answer = PyObject_CallFunctionObjArgs(g_raise_as_meant, value, NULL);
    if (answer != NULL) {
      PyErr_Restore(type, value, trace);
      Py_DECREF(answer);
    } else {
      Py_XDECREF(type);
      Py_XDECREF(value);
      Py_XDECREF(trace);
    }
  }
  kpy_refuse_strange_tensor(f, tuple, dict);
}

static PyObject* CallBelow(KpyFunction* f, PyObject* const* values, PyObject* tuple, PyObject* dict) {
  PyObject* answer = NULL;
  Guard* guard = Enter();
  if (guard == NULL) return NULL;
  if (CountWrites(f, values) == 0) answer = PyObject_Call(f->torch_whole, tuple, dict);
  Leave(guard);
  if (answer == NULL) RaiseAsMeant(f, tuple, dict);
  return answer;
}

enum { kMostParams = 64 }; /* calls with more take the usual way */

int kpy_torch_call_below(KpyFunction* f, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                         PyObject** answer) {
  PyObject *values[kMostParams], *out = NULL, *tuple = NULL, *dict = NULL;
  if (nargs == 0 || f->num_params > kMostParams || KPY_PUBLISHED(g_guard) == NULL || kpy_torch_tensor_type() == NULL) {
    return 0;
  }
  /* Most calls that aren't torch's are told by their first argument. */
  if (!kpy_torch_is_plain(Py_TYPE(args[0])) && !PyList_CheckExact(args[0])) return 0;
  if (kpy_bind(f, args, nargs, kwnames, values, &out) != 0) {
    PyErr_Clear(); /* the usual way raises it */
    return 0;
  }
  if (out != NULL || WayOf(f, values, 0) != KPY_TORCH_BELOW || IsTracing()) return 0;
  *answer = NULL;
  if (kpy_pack_arguments(args, nargs, kwnames, &tuple, &dict) == 0) *answer = CallBelow(f, values, tuple, dict);
  Py_XDECREF(tuple);
  Py_XDECREF(dict);
  return 1;
}

/* ---- the operator by its name ---- */

/* The values by parameter, borrowed: 1; 0 if the operator has to refuse the call, or to choose another overload. */
static int Spread(KpyFunction* f, PyObject* tuple, PyObject* dict, PyObject** values) {
  const Py_ssize_t count = PyTuple_Size(tuple);
  PyObject *name, *value;
  Py_ssize_t place = 0;
  int32_t i;
  if (count > f->num_params) return 0;
  for (i = 0; i < f->num_params; ++i) values[i] = i < count ? PyTuple_GetItem(tuple, i) : NULL;
  while (dict != NULL && PyDict_Next(dict, &place, &name, &value)) {
    i = kpy_find_param(f, name);
    if (i < 0) return 0;
    values[i] = value;
  }
  return 1;
}

/* Compiled programs call operators by name, in levels of forward mode that torch.autograd.forward_ad doesn't count: only the question
 * that counts those, too, can be relied on. */
static PyObject* CallByName(PyObject* self, PyObject* tuple, PyObject* dict) {
  KpyFunction* f = (KpyFunction*)self;
  PyObject* values[kMostParams];
  PyObject* usual = KPY_PUBLISHED(f->torch_call);
  KpyTorchWay way = KPY_TORCH_ASK;
  if (f->num_params <= kMostParams && KPY_PUBLISHED(g_guard) != NULL && kpy_torch_tensor_type() != NULL &&
      kpy_torch_levels_are_told() && Spread(f, tuple, dict, values)) {
    way = WayOf(f, values, usual != NULL);
  }
  if (way == KPY_TORCH_BELOW) return CallBelow(f, values, tuple, dict);
  /* The function's own call makes the node, as it does for k.op(...), instead of the kernel at the Autograd key. */
  return PyObject_Call(way == KPY_TORCH_RECORD ? usual : f->torch_whole, tuple, dict);
}

PyObject* kpy_api_torch_operator(KpyFunction* f, PyObject* whole) {
  static PyMethodDef by_name = {"operator", (PyCFunction)(void (*)(void))CallByName, METH_VARARGS | METH_KEYWORDS,
                                NULL};
  Py_INCREF(whole); /* until the process ends, as the function */
  kpy_lock();
  KPY_PUBLISH(f->torch_whole, whole);
  kpy_choose_entry(f);
  kpy_unlock();
  return PyCFunction_NewEx(&by_name, (PyObject*)f, NULL);
}
