/* Calls that the fast path must not take go to a framework's own path: kernpack.torch and kernpack.jax register one each. */
#include <string.h>

#include "api/api.h"
#include "call/frame.h"
#include "hooks.h"
#include "threads.h"

static PyObject* g_hooks; /* dict: "torch", "jax" -> callable(function, args, kwargs, why) */

int kpy_hooks_init(void) {
  g_hooks = PyDict_New();
  return g_hooks == NULL ? -1 : 0;
}

int kpy_has_hook(const char* name) {
  PyObject* hook = kpy_dict_get_text(g_hooks, name);
  Py_XDECREF(hook);
  return hook != NULL;
}

PyObject* kpy_api_set_hook(KpBytes framework, PyObject* hook) {
  const char* name = framework.data;
  if (hook != NULL) return kpy_done(PyDict_SetItemString(g_hooks, name, hook));
  return kpy_done(kpy_has_hook(name) ? PyDict_DelItemString(g_hooks, name) : 0);
}

PyObject* kpy_api_torch_calls(KpyFunction* f, PyObject* call) {
  Py_INCREF(call); /* until the process ends, as the function: other threads may be about to use one that is replaced */
  KPY_PUBLISH(f->torch_call, call);
  return kpy_done(0);
}

int kpy_divert(KpyCall* call, const char* hook, const char* why) {
  /* torch has no operator of what has no signature: then the reason itself says more than its path could. */
  const int to_torch = strcmp(hook, "torch") == 0;
  const int helpless = to_torch && (call->function == NULL || call->function->program == NULL);
  PyObject* direct = to_torch && call->function != NULL ? KPY_PUBLISHED(call->function->torch_call) : NULL;
  call->divert = why;
  call->divert_as_given = direct != NULL;
  if (direct != NULL) {
    call->divert_hook = direct; /* kept until the process ends */
    return KPY_DIVERT;
  }
  call->divert_hook = helpless ? NULL : kpy_dict_get_text(g_hooks, hook);
  if (call->divert_hook != NULL && kpy_call_keep_object(call, call->divert_hook) != 0) return KPY_ERROR;
  return KPY_DIVERT;
}

int kpy_pack_arguments(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames, PyObject** tuple, PyObject** dict) {
  Py_ssize_t i, keywords = kwnames == NULL ? 0 : PyTuple_Size(kwnames);
  *tuple = PyTuple_New(nargs);
  *dict = keywords > 0 ? PyDict_New() : NULL;
  if (*tuple == NULL || (keywords > 0 && *dict == NULL)) return -1;
  for (i = 0; i < nargs; ++i) {
    Py_INCREF(args[i]);
    if (PyTuple_SetItem(*tuple, i, args[i]) != 0) return -1;
  }
  for (i = 0; i < keywords; ++i) {
    if (PyDict_SetItem(*dict, PyTuple_GetItem(kwnames, i), args[nargs + i]) != 0) return -1;
  }
  return 0;
}

void kpy_refuse_strange_tensor(const KpyFunction* f, PyObject* tuple, PyObject* keywords) {
  PyObject *type, *value, *trace, *names = NULL, *text, *dict;
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_RuntimeError)) return;
  PyErr_Fetch(&type, &value, &trace); /* before the look at sys.modules, which would clear the error */
  dict = keywords == NULL ? PyDict_New() : Py_NewRef(keywords);
  if (kpy_is_loaded("torch")) names = kpy_parameter_names(f);
  text = names == NULL || dict == NULL ? NULL : kpy_helper("torch_refusal", "(OOO)", names, tuple, dict);
  if (text != NULL && text != Py_None) {
    PyErr_Format(PyExc_TypeError, "%s: %U", f->name, text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  } else {
    PyErr_Restore(type, value, trace); /* and an error of the helper is dropped */
  }
  Py_XDECREF(text);
  Py_XDECREF(names);
  Py_XDECREF(dict);
}

static PyObject* TakeDiverted(const KpyCall* call, PyObject* hook, PyObject* tuple, PyObject* dict) {
  PyObject *why, *keywords, *result;
  if (call->divert_as_given) return PyObject_Call(hook, tuple, dict);
  why = PyUnicode_FromString(call->divert);
  keywords = dict == NULL ? PyDict_New() : Py_NewRef(dict);
  result = why == NULL || keywords == NULL
               ? NULL
               : PyObject_CallFunctionObjArgs(hook, call->function->callable, tuple, keywords, why, NULL);
  Py_XDECREF(why);
  Py_XDECREF(keywords);
  return result;
}

PyObject* kpy_diverted(KpyCall* call, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject *tuple = NULL, *dict = NULL, *result = NULL, *hook = call->divert_hook;
  if (kpy_pack_arguments(args, nargs, kwnames, &tuple, &dict) == 0) {
    if (hook != NULL) result = TakeDiverted(call, hook, tuple, dict);
    if (result == NULL) kpy_refuse_strange_tensor(call->function, tuple, dict);
    if (result == NULL && !PyErr_Occurred()) {
      PyErr_Format(PyExc_TypeError, "%s: %s: cannot be given to a kernel directly: %s", call->function->name,
                   kpy_what(call), call->divert);
    }
  }
  Py_XDECREF(tuple);
  Py_XDECREF(dict);
  return result;
}
