/* The process's registry of named functions. */
#include "api.h"

PyObject* kpy_api_global_set(KpBytes name, KpAny function, int replace) {
  return kpy_done(kp_host()->global_set(kp_host(), name, function.v.v_obj, replace));
}

PyObject* kpy_api_global_get(KpBytes name) {
  KpAny function;
  return kpy_given(kp_host()->global_get(kp_host(), name, &function), &function);
}

PyObject* kpy_api_global_list(void) {
  KpAny names;
  return kpy_given(kp_global_names(&names), &names);
}

PyObject* kpy_api_global_drop(KpBytes name) { return kpy_done(kp_global_remove(name)); }
