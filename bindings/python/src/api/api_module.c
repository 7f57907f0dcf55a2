/* Loading modules and listing them. */
#include <kernpack/host/torch.h>

#include "api.h"
#include "python/errors.h"

static PyObject* Capsule(const KpLoadedModule* loaded) {
  return PyCapsule_New((void*)(uintptr_t)loaded, KPY_MODULE_CAPSULE, NULL);
}

/* The paths of a tuple of str: bytes, which need not be UTF-8, and belong to *owner. NULL with an error raised; for PyMem_Free. */
static const char** Paths(PyObject* list, PyObject** owner) {
  const Py_ssize_t count = PyTuple_Size(list);
  const char** paths = (const char**)PyMem_Calloc((size_t)count + 1, sizeof(char*));
  Py_ssize_t i;
  if (paths == NULL) return (const char**)PyErr_NoMemory();
  *owner = PyList_New(count);
  for (i = 0; *owner != NULL && i < count; ++i) {
    PyObject* bytes = PyUnicode_EncodeFSDefault(PyTuple_GetItem(list, i));
    paths[i] = bytes == NULL ? NULL : PyBytes_AsString(bytes);
    if (bytes == NULL || PyList_SetItem(*owner, i, bytes) != 0) Py_CLEAR(*owner);
  }
  if (*owner != NULL) return paths;
  PyMem_Free(paths);
  return NULL;
}

PyObject* kpy_api_load(PyObject* list, uint32_t flags, KpBytes contracts) {
  const KpLoadedModule* loaded;
  const Py_ssize_t count = PyTuple_Size(list);
  PyObject* owner = NULL;
  const char** paths = Paths(list, &owner);
  int rc;
  if (paths == NULL) return NULL;
  Py_BEGIN_ALLOW_THREADS; /* KP_MODULE_INIT may be slow, or call back into Python */
  rc = contracts.size != 0 && count == 1 ? kp_module_load_contracts(paths[0], contracts, flags, &loaded)
                                         : kp_module_load(paths, (int32_t)count, flags, &loaded);
  Py_END_ALLOW_THREADS;
  PyMem_Free(paths);
  Py_DECREF(owner);
  return rc == 0 ? Capsule(loaded) : NULL;
}

PyObject* kpy_api_library_folders(PyObject* folders) {
  PyObject* owner = NULL;
  const char** paths = Paths(folders, &owner);
  PyObject* done;
  if (paths == NULL) return NULL;
  done = kpy_done(kp_library_folders(paths, (int32_t)PyTuple_Size(folders)));
  PyMem_Free(paths);
  Py_DECREF(owner);
  return done;
}

PyObject* kpy_api_adopt(void* address) {
  const KpLoadedModule* loaded;
  if (address == NULL) return PyErr_Format(PyExc_ValueError, "adopt: expected the address of a KpModule, got 0");
  return kp_module_adopt((const KpModule*)address, &loaded) == 0 ? Capsule(loaded) : NULL;
}

PyObject* kpy_api_module_facts(const KpLoadedModule* module) {
  return Py_BuildValue("(ssNss)", kp_module_name(module), kp_module_version(module),
                       PyUnicode_DecodeFSDefault(kp_module_path(module)), kp_module_digest(module),
                       kp_module_sdk_version(module));
}

PyObject* kpy_api_module_gradients(const KpLoadedModule* module) {
  KpAny pairs;
  return kpy_given(kp_module_gradients(module, &pairs), &pairs);
}

PyObject* kpy_api_module_jvps(const KpLoadedModule* module) {
  KpAny pairs;
  return kpy_given(kp_module_jvps(module, &pairs), &pairs);
}

PyObject* kpy_api_module_files(void) {
  KpAny files;
  return kpy_given(kp_module_files(&files), &files);
}

PyObject* kpy_api_module_warm(PyObject* path) {
  KpAny verified;
  return kpy_given(kp_module_warm(PyBytes_AsString(path), &verified), &verified);
}

/* How many functions there are, or -1 with an error in the host: something is wrong with the module's tables. */
static int32_t Count(const KpLoadedModule* module, int32_t (*count)(const KpLoadedModule*)) {
  int32_t found;
  kp_error_clear();
  found = count(module);
  return found == 0 && kp_error_pending() ? -1 : found;
}

PyObject* kpy_api_module_has_signatures(const KpLoadedModule* module) {
  const int32_t count = Count(module, kp_module_signature_count);
  return count < 0 ? NULL : PyBool_FromLong(count != 0);
}

PyObject* kpy_api_module_names(const KpLoadedModule* module) {
  const int32_t count = Count(module, kp_module_function_count);
  PyObject* names = count < 0 ? NULL : PyList_New(count);
  int32_t i;
  for (i = 0; names != NULL && i < count; ++i) {
    PyList_SetItem(names, i, PyUnicode_FromString(kp_module_function_name(module, i)));
  }
  return names;
}

PyObject* kpy_api_module_has(const KpLoadedModule* module, KpBytes name) {
  int found;
  kp_error_clear();
  found =
      kp_module_function(module, name) != NULL || kp_error_pending(); /* its contract may not compile: it is there */
  kp_error_clear();
  return PyBool_FromLong(found);
}

PyObject* kpy_api_torch_register(const KpLoadedModule* module) {
  KpAny name;
  return kpy_given(kp_torch_register(module, &name), &name);
}
