/* kernpack._core: the extension module. One per process; it holds C state that is never torn down. */
#include "api/api.h"
#include "call/call_context.h"
#include "values/callback.h"
#include "values/classes.h"
#include "python/errors.h"
#include "call/function.h"
#include "python/hooks.h"
#include "call/call_entry.h"
#include "python/threads.h"

#include <string.h>

PyMODINIT_FUNC PyInit__core(void);

/* The process's host, for extensions that serve it without linking to libkernpack (kernpack_compiler). */
static int AddHost(PyObject* module) {
  PyObject* capsule = PyCapsule_New((void*)(uintptr_t)kp_host(), "kernpack.host", NULL);
  const int rc = capsule == NULL ? -1 : PyModule_AddObjectRef(module, "host", capsule);
  Py_XDECREF(capsule);
  return rc;
}

static PyObject* g_module; /* strong */

static int Fill(PyObject* module) {
  return kpy_errors_init() != 0 || kpy_device_init(module) != 0 || kpy_dtype_init(module) != 0 ||
                 kpy_tensor_init(module) != 0 || kpy_callback_init() != 0 || kpy_handle_init(module) != 0 ||
                 kpy_hooks_init() != 0 || kpy_jax_init() != 0 || kpy_object_class_init() != 0 ||
                 kpy_function_init(module) != 0 || kpy_functions_init() != 0 || kpy_with_python_init() != 0 ||
                 AddHost(module) != 0 || PyModule_AddStringConstant(module, "version", kp_version()) != 0 ||
                 PyModule_AddIntConstant(module, "abi_major", KP_ABI_MAJOR) != 0
             ? -1
             : 0;
}

/* The two are one wheel's. A folder that holds files of two versions would crash somewhere later. */
static int CheckLibrary(void) {
  if (strcmp(kp_version(), KERNPACK_VERSION) == 0) return 0;
  PyErr_Format(PyExc_ImportError,
               "kernpack: _core is of version %s, but the libkernpack beside it is of version %s; install one version: "
               "pip install --force-reinstall kernpack",
               KERNPACK_VERSION, kp_version());
  return -1;
}

/* The one module object of the process, in whichever interpreter may have it. */
static PyObject* Create(PyObject* spec, PyModuleDef* def) {
  const int64_t interpreter = PyInterpreterState_GetID(PyInterpreterState_Get());
  PyObject* name;
  (void)def;
  if (interpreter != 0) {
    return PyErr_Format(PyExc_ImportError,
                        "kernpack: expected the main interpreter, got subinterpreter %lld: the types and callbacks of "
                        "kernpack belong to the interpreter that imports it first; import it there, or use processes",
                        (long long)interpreter);
  }
  if (g_module == NULL && CheckLibrary() != 0) return NULL;
  if (g_module == NULL && (name = PyObject_GetAttrString(spec, "name")) != NULL) {
    g_module = PyModule_NewObject(name);
    Py_DECREF(name);
    if (g_module != NULL && (PyModule_AddFunctions(g_module, kpy_api_methods) != 0 || Fill(g_module) != 0)) {
      Py_CLEAR(g_module);
    }
    if (g_module != NULL) kpy_watch_interrupts();
  }
  Py_XINCREF(g_module);
  return g_module;
}

PyMODINIT_FUNC PyInit__core(void) {
  static PyModuleDef_Slot slots[] = {{Py_mod_create, (void*)Create},
#ifdef Py_GIL_DISABLED
                                     {Py_mod_gil, Py_MOD_GIL_NOT_USED}, /* importing it doesn't switch the GIL on */
#endif
                                     {0, NULL}};
  static struct PyModuleDef def = {
      PyModuleDef_HEAD_INIT, "kernpack._core", "The call core.", 0, NULL, slots, NULL, NULL, NULL};
  return PyModuleDef_Init(&def);
}
