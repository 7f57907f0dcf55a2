/* kernpack._core: the extension module. One per process; it holds C state that is never torn down. */
#include "call_context.h"
#include "core.h"

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void) {
  static struct PyModuleDef def = {
      PyModuleDef_HEAD_INIT, "kernpack._core", "The call core.", -1, NULL, NULL, NULL, NULL, NULL};
  PyObject* module;
  def.m_methods = kpy_api_methods;
  module = PyModule_Create(&def);
  if (module == NULL) return NULL;
  if (kpy_errors_init() != 0 || kpy_device_init(module) != 0 || kpy_dtype_init(module) != 0 ||
      kpy_tensor_init(module) != 0 || kpy_handle_init(module) != 0 || kpy_function_init(module) != 0 ||
      PyModule_AddStringConstant(module, "version", kp_version()) != 0) {
    Py_DECREF(module);
    return NULL;
  }
  kpy_watch_interrupts();
  return module;
}
