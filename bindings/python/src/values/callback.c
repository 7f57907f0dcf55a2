/* Runs a Python callable for a kernel: takes the GIL, converts, carries exceptions as they are. */
#include "callback.h"

#include "classes.h"
#include "convert.h"
#include "python/errors.h"
#include "python/system.h"
#include "values.h"
#include "python/threads.h"

/* A tensor argument is borrowed for the callback's duration only; its Python object is made unusable afterwards. */
static PyObject* ArgumentToPython(const KpAny* value) {
  if (value->type_index == KP_TYPE_DLTENSOR_PTR) return kpy_tensor_new_borrowed(value->v.v_tensor);
  return kpy_to_python(value, NULL);
}

static int ExpireBorrowed(PyObject* tuple, const KpAny* args, int32_t count) {
  int rc = 0;
  int32_t i;
  for (i = 0; i < count; ++i) {
    if (args[i].type_index != KP_TYPE_DLTENSOR_PTR) continue;
    if (kpy_tensor_expire(PyTuple_GetItem(tuple, i)) != 0) rc = -1;
  }
  return rc;
}

static int RunCallable(PyObject* callable, const KpAny* args, int32_t count, KpAny* result) {
  PyObject* tuple = PyTuple_New(count);
  PyObject* answer;
  int32_t i;
  int rc = -1;
  if (tuple == NULL) return -1;
  for (i = 0; i < count; ++i) {
    PyObject* argument = ArgumentToPython(&args[i]);
    if (argument == NULL || PyTuple_SetItem(tuple, i, argument) != 0) {
      Py_DECREF(tuple);
      return -1;
    }
  }
  answer = PyObject_CallObject(callable, tuple);
  if (answer != NULL) rc = kpy_to_any(answer, "what a callback returned", result);
  Py_XDECREF(answer);
  if (rc == 0 && ExpireBorrowed(tuple, args, count) != 0) {
    kp_any_release(result);
    rc = -1;
  } else if (rc != 0) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    (void)ExpireBorrowed(tuple, args, count);
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
  }
  Py_DECREF(tuple);
  return rc;
}

typedef struct KpyCallback {
  PyObject_HEAD PyObject* callable; /* NULL: the collector took it */
  KpObject* function; /* borrowed: it holds this */
  Py_ssize_t sharers; /* atomic: Python objects that hold the function */
} KpyCallback;

typedef struct Invocation {
  KpyCallback* callback;
  const KpAny* args;
  KpAny* result;
  int32_t count;
  int rc;
} Invocation;

/* Windows' main thread has 2 MB, which some hundred kernels that call back fill before Python counts its limit. What is left has to be enough
   for the error's way back. */
enum { kStackOfACall = 256 << 10 };

static void Invoke(void* argument) {
  Invocation* call = (Invocation*)argument;
  PyObject* callable = call->callback->callable;
  call->rc = -1;
  if (callable == NULL) {
    PyErr_SetString(PyExc_RuntimeError, "a callback was called after Python's garbage collector had freed it");
  } else if (kpy_stack_left() < kStackOfACall) {
    PyErr_SetString(PyExc_RecursionError,
                    "maximum recursion depth exceeded in a callback from a kernel: the stack is full");
  } else if (Py_EnterRecursiveCall(" in a callback from a kernel") == 0) {
    Py_INCREF(callable);
    call->rc = RunCallable(callable, call->args, call->count, call->result);
    Py_DECREF(callable);
    Py_LeaveRecursiveCall();
  }
  if (call->rc != 0) call->rc = kpy_raise_from_python();
}

static int CallbackCall(void* self, const KpAny* args, int32_t count, KpAny* result) {
  Invocation call = {(KpyCallback*)self, args, result, count, 0};
  if (kpy_with_python(Invoke, &call)) return call.rc;
  return kp_raise("RuntimeError", "a Python callback was called after Python had ended, or while it was ending");
}

/* ---- what the garbage collector sees ---- */

static PyTypeObject* g_type;

/* True if only Python objects that share this callback hold the function; its reference to the callback then belongs to them. */
static int OnlyShared(const KpyCallback* self) {
  return __atomic_load_n(&self->sharers, __ATOMIC_RELAXED) > 0 &&
         (uint32_t)__atomic_load_n(&self->function->counts, __ATOMIC_RELAXED) ==
             (uint64_t)__atomic_load_n(&self->sharers, __ATOMIC_RELAXED);
}

static int Traverse(PyObject* object, visitproc visit, void* arg) {
  KpyCallback* self = (KpyCallback*)object;
  Py_VISIT((PyObject*)Py_TYPE(object));
  Py_VISIT(self->callable);
  if (OnlyShared(self)) Py_VISIT(object); /* for the function, which the collector cannot see */
  return 0;
}

static int Clear(PyObject* object) {
  Py_CLEAR(((KpyCallback*)object)->callable);
  return 0;
}

static void Dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  (void)Clear(object);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF((PyObject*)type);
}

int kpy_callback_init(void) {
  PyType_Slot slots[] = {
      {Py_tp_traverse, (void*)Traverse}, {Py_tp_clear, (void*)Clear}, {Py_tp_dealloc, (void*)Dealloc}, {0, NULL}};
  PyType_Spec spec = {"kernpack._core.Callback", sizeof(KpyCallback), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  g_type = (PyTypeObject*)PyType_FromSpec(&spec);
  return g_type == NULL ? -1 : 0;
}

PyObject* kpy_callback_share(KpObject* function) {
  PyObject* callback = (PyObject*)kp_function_context(function, CallbackCall);
  if (callback == NULL) return NULL;
  (void)__atomic_add_fetch(&((KpyCallback*)callback)->sharers, 1, __ATOMIC_RELAXED);
  Py_INCREF(callback);
  return callback;
}

void kpy_callback_let_go(PyObject* callback) {
  (void)__atomic_sub_fetch(&((KpyCallback*)callback)->sharers, 1, __ATOMIC_RELAXED);
  Py_DECREF(callback);
}

int kpy_function_from_callable(PyObject* callable, KpAny* out) {
  KpyCallback* callback = (KpyCallback*)PyType_GenericAlloc(g_type, 0);
  if (callback == NULL) return -1;
  if (kp_function_new(callback, CallbackCall, kpy_release_object_any_thread, out) != 0) {
    Py_DECREF(callback);
    (void)kpy_raise_host(NULL, -1);
    return -1;
  }
  Py_INCREF(callable);
  callback->callable = callable;
  callback->function = out->v.v_obj;
  return 0;
}
