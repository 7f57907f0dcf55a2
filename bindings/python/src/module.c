/* kernpack._core: the extension module. One per process; it holds C state that is never torn down. */
#include "call_context.h"
#include "core.h"

PyMODINIT_FUNC PyInit__core(void);

/* The process's host, for extensions that serve it without linking to libkernpack (kernpack_compiler). */
static int AddHost(PyObject* module) {
  PyObject* capsule = PyCapsule_New((void*)(uintptr_t)kp_host(), "kernpack.host", NULL);
  const int rc = capsule == NULL ? -1 : PyModule_AddObjectRef(module, "host", capsule);
  Py_XDECREF(capsule);
  return rc;
}

PyMODINIT_FUNC PyInit__core(void) {
  static struct PyModuleDef def = {
      PyModuleDef_HEAD_INIT, "kernpack._core", "The call core.", -1, NULL, NULL, NULL, NULL, NULL};
  PyObject* module;
  def.m_methods = kpy_api_methods;
  module = PyModule_Create(&def);
  if (module == NULL) return NULL;
  if (kpy_errors_init() != 0 || kpy_device_init(module) != 0 || kpy_dtype_init(module) != 0 ||
      kpy_tensor_init(module) != 0 || kpy_handle_init(module) != 0 || kpy_function_init(module) != 0 ||
      AddHost(module) != 0 || PyModule_AddStringConstant(module, "version", kp_version()) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  kpy_watch_interrupts();
  return module;
}
