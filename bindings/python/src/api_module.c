/* Loading modules and listing them. */
#include "api.h"
#include "errors.h"
#include "values.h"

#include <kernpack/host/torch.h>

#define CAPSULE "kernpack.module"

static const KpLoadedModule* ModuleOf(PyObject* capsule) {
  return (const KpLoadedModule*)PyCapsule_GetPointer(capsule, CAPSULE);
}

PyObject* kpy_load(PyObject* module, PyObject* args) {
  PyObject *list, *capsule = NULL;
  unsigned int flags;
  const KpLoadedModule* loaded;
  const char** paths;
  Py_ssize_t i, count;
  int rc = 0;
  (void)module;
  if (!PyArg_ParseTuple(args, "O!I:load", &PyTuple_Type, &list, &flags)) return NULL;
  count = PyTuple_Size(list);
  paths = (const char**)PyMem_Calloc((size_t)count + 1, sizeof(char*));
  if (paths == NULL) return PyErr_NoMemory();
  for (i = 0; rc == 0 && i < count; ++i) {
    paths[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(list, i), NULL);
    if (paths[i] == NULL) rc = -1;
  }
  if (rc == 0) {
    PyThreadState* thread = PyEval_SaveThread(); /* KP_MODULE_INIT may be slow, or call back into Python */
    rc = kp_module_load(paths, (int32_t)count, flags, &loaded);
    PyEval_RestoreThread(thread);
    if (rc != 0) {
      (void)kpy_raise_host("load", rc);
    } else {
      capsule = PyCapsule_New((void*)(uintptr_t)loaded, CAPSULE, NULL);
    }
  }
  PyMem_Free(paths);
  return capsule;
}

PyObject* kpy_adopt(PyObject* module, PyObject* address) {
  const KpModule* table = (const KpModule*)PyLong_AsVoidPtr(address);
  const KpLoadedModule* loaded;
  (void)module;
  if (table == NULL) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "adopt: expected the address of a KpModule, got 0");
    return NULL;
  }
  if (kp_module_adopt(table, &loaded) != 0) return kpy_raise_host("adopt", -1);
  return PyCapsule_New((void*)(uintptr_t)loaded, CAPSULE, NULL);
}

PyObject* kpy_module_facts(PyObject* module, PyObject* capsule) {
  const KpLoadedModule* loaded = ModuleOf(capsule);
  (void)module;
  if (loaded == NULL) return NULL;
  return Py_BuildValue("(sssss)", kp_module_name(loaded), kp_module_version(loaded), kp_module_path(loaded),
                       kp_module_digest(loaded), kp_module_sdk_version(loaded));
}

static PyObject* Pairs(PyObject* capsule, const char* what, int (*ask)(const KpLoadedModule*, KpAny*)) {
  const KpLoadedModule* loaded = ModuleOf(capsule);
  PyObject* text;
  KpAny pairs = kp_none();
  if (loaded == NULL) return NULL;
  if (ask(loaded, &pairs) != 0) return kpy_raise_host(what, -1);
  text = kpy_to_python(&pairs, NULL);
  kp_any_release(&pairs);
  return text;
}

PyObject* kpy_module_gradients(PyObject* module, PyObject* capsule) {
  (void)module;
  return Pairs(capsule, "module_gradients", kp_module_gradients);
}

PyObject* kpy_module_files(PyObject* module, PyObject* unused) {
  PyObject* text;
  KpAny files = kp_none();
  (void)module;
  (void)unused;
  if (kp_module_files(&files) != 0) return kpy_raise_host("module_files", -1);
  text = kpy_to_python(&files, NULL);
  kp_any_release(&files);
  return text;
}

PyObject* kpy_module_jvps(PyObject* module, PyObject* capsule) {
  (void)module;
  return Pairs(capsule, "module_jvps", kp_module_jvps);
}

/* How many functions there are, or -1 with an exception set: something is wrong with the module's tables. */
static int32_t Count(PyObject* capsule, int32_t (*count)(const KpLoadedModule*)) {
  const KpLoadedModule* loaded = ModuleOf(capsule);
  int32_t found;
  if (loaded == NULL) return -1;
  kp_error_clear();
  found = count(loaded);
  if (found != 0 || !kp_error_pending()) return found;
  (void)kpy_raise_host("load", -1);
  return -1;
}

PyObject* kpy_module_has_signatures(PyObject* module, PyObject* capsule) {
  const int32_t count = Count(capsule, kp_module_signature_count);
  (void)module;
  return count < 0 ? NULL : PyBool_FromLong(count != 0);
}

PyObject* kpy_module_names(PyObject* module, PyObject* capsule) {
  const int32_t count = Count(capsule, kp_module_function_count);
  PyObject* names;
  int32_t i;
  (void)module;
  if (count < 0) return NULL;
  names = PyList_New(count);
  for (i = 0; names != NULL && i < count; ++i) {
    PyList_SetItem(names, i, PyUnicode_FromString(kp_module_function_name(ModuleOf(capsule), i)));
  }
  return names;
}

PyObject* kpy_module_has(PyObject* module, PyObject* args) {
  PyObject* capsule;
  KpBytes name;
  Py_ssize_t size;
  const KpLoadedModule* loaded;
  int found;
  (void)module;
  if (!PyArg_ParseTuple(args, "Os#:module_has", &capsule, &name.data, &size)) return NULL;
  name.size = (size_t)size;
  loaded = ModuleOf(capsule);
  if (loaded == NULL) return NULL;
  kp_error_clear();
  found =
      kp_module_function(loaded, name) != NULL || kp_error_pending(); /* its contract may not compile: it is there */
  kp_error_clear();
  return PyBool_FromLong(found);
}

PyObject* kpy_torch_register(PyObject* module, PyObject* capsule) {
  const KpLoadedModule* loaded = ModuleOf(capsule);
  PyObject* name;
  KpAny value = kp_none();
  (void)module;
  if (loaded == NULL) return NULL;
  if (kp_torch_register(loaded, &value) != 0) return kpy_raise_host("torch_register", -1);
  name = kpy_to_python(&value, NULL);
  kp_any_release(&value);
  return name;
}
