/* Runs a Python callable for a kernel: takes the GIL, converts, carries exceptions as they are. */
#include "callback.h"

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

static int CallbackCall(void* self, const KpAny* args, int32_t count, KpAny* result) {
  PyGILState_STATE state;
  int rc;
  if (!Py_IsInitialized()) return kp_raise("RuntimeError", "a Python callback was called after Python had ended");
  state = PyGILState_Ensure();
  rc = Py_EnterRecursiveCall(" in a callback from a kernel");
  if (rc == 0) {
    rc = RunCallable((PyObject*)self, args, count, result);
    Py_LeaveRecursiveCall();
  }
  if (rc != 0) rc = kpy_raise_from_python();
  PyGILState_Release(state);
  return rc;
}

int kpy_function_from_callable(PyObject* callable, KpAny* out) {
  Py_INCREF(callable);
  if (kp_function_new(callable, CallbackCall, kpy_release_object_any_thread, out) == 0) return 0;
  Py_DECREF(callable);
  (void)kpy_raise_host(NULL, -1);
  return -1;
}
