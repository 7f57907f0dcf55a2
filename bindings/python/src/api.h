/* Module-level functions, by topic. */
#ifndef KERNPACK_PYTHON_API_H_
#define KERNPACK_PYTHON_API_H_

#include "base.h"

KPY_HIDDEN extern PyMethodDef kpy_api_methods[];

/* api_module.c */
KPY_HIDDEN PyObject* kpy_load(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_adopt(PyObject* module, PyObject* address);
KPY_HIDDEN PyObject* kpy_module_facts(PyObject* module, PyObject* capsule);
KPY_HIDDEN PyObject* kpy_module_gradients(PyObject* module, PyObject* capsule);
KPY_HIDDEN PyObject* kpy_module_files(PyObject* module, PyObject* unused);
KPY_HIDDEN PyObject* kpy_module_jvps(PyObject* module, PyObject* capsule);
KPY_HIDDEN PyObject* kpy_module_has_signatures(PyObject* module, PyObject* capsule);
KPY_HIDDEN PyObject* kpy_module_names(PyObject* module, PyObject* capsule);
KPY_HIDDEN PyObject* kpy_module_has(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_torch_register(PyObject* module, PyObject* capsule);
/* function.c */
KPY_HIDDEN PyObject* kpy_function_get(PyObject* module, PyObject* args);
/* After the checking mode went on or off, or a profile. */
KPY_HIDDEN void kpy_follow_watchers(void);
/* jax_programs.c */
KPY_HIDDEN PyObject* kpy_jax_arrays(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_jax_remember(PyObject* module, PyObject* args);
/* api_global.c */
KPY_HIDDEN PyObject* kpy_global_set(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_global_get(PyObject* module, PyObject* name);
KPY_HIDDEN PyObject* kpy_global_list(PyObject* module, PyObject* unused);
KPY_HIDDEN PyObject* kpy_global_drop(PyObject* module, PyObject* name);
/* object_class.c */
KPY_HIDDEN PyObject* kpy_object_class(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_object_of(PyObject* module, PyObject* capsule);
/* dtype.c */
KPY_HIDDEN PyObject* kpy_dtype_word(PyObject* module, PyObject* name);
/* api_storage.c */
KPY_HIDDEN PyObject* kpy_storage_stats_json(PyObject* module, PyObject* unused);
KPY_HIDDEN PyObject* kpy_storage_read(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_storage_write(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_storage_remove(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_storage_keys(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_storage_drop_device(PyObject* module, PyObject* device);
/* api_profile.c */
KPY_HIDDEN PyObject* kpy_profile_begin(PyObject* module, PyObject* max_events);
KPY_HIDDEN PyObject* kpy_profile_end(PyObject* module, PyObject* capsule);
KPY_HIDDEN PyObject* kpy_profile_text(PyObject* module, PyObject* args);
/* api_device.c */
KPY_HIDDEN PyObject* kpy_backend_load(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_backend_info(PyObject* module, PyObject* open);
KPY_HIDDEN PyObject* kpy_backend_names(PyObject* module, PyObject* unused);
KPY_HIDDEN PyObject* kpy_device_count(PyObject* module, PyObject* device);
KPY_HIDDEN PyObject* kpy_device_facts(PyObject* module, PyObject* device);
KPY_HIDDEN PyObject* kpy_device_property(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_device_reset(PyObject* module, PyObject* device);
KPY_HIDDEN PyObject* kpy_workspace_stats(PyObject* module, PyObject* unused);
KPY_HIDDEN PyObject* kpy_workspace_trim(PyObject* module, PyObject* device);
KPY_HIDDEN PyObject* kpy_stream_new(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_stream_free(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_stream_sync(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_stream_query(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_stream_wait(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_stream_get(PyObject* module, PyObject* device);
KPY_HIDDEN PyObject* kpy_stream_set(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_empty(PyObject* module, PyObject* args, PyObject* kwargs);
KPY_HIDDEN PyObject* kpy_tensor_copy(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_tensor_fill(PyObject* module, PyObject* args);
KPY_HIDDEN PyObject* kpy_tensor_host_view(PyObject* module, PyObject* tensor);

#endif /* KERNPACK_PYTHON_API_H_ */
