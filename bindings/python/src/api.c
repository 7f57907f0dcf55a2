/* The table of kernpack._core's functions, and the small ones. */
#include "api.h"
#include "classes.h"
#include "convert.h"
#include "errors.h"
#include "guard_torch.h"
#include "hooks.h"
#include "values.h"

static PyObject* RegisterError(PyObject* module, PyObject* args) {
  PyObject *kind, *type;
  (void)module;
  if (!PyArg_ParseTuple(args, "OO:register_error", &kind, &type) || kpy_error_register(kind, type) != 0) return NULL;
  Py_RETURN_NONE;
}

static PyObject* ErrorClass(PyObject* module, PyObject* kind) {
  (void)module;
  return kpy_error_class(kind);
}

static PyObject* RaisePending(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return kpy_raise_host("kernpack", -1);
}

static PyObject* SetNumThreads(PyObject* module, PyObject* args) {
  int n;
  (void)module;
  if (!PyArg_ParseTuple(args, "i:set_num_threads", &n)) return NULL;
  if (kp_set_num_threads(n) != 0) return kpy_raise_host("set_num_threads", -1);
  Py_RETURN_NONE;
}

static PyObject* GetNumThreads(PyObject* module, PyObject* unused) {
  int32_t n;
  (void)module, (void)unused;
  if (kp_host()->num_threads(kp_host(), &n) != 0) return kpy_raise_host("get_num_threads", -1);
  return PyLong_FromLong(n);
}

/* Turns the checking mode on, or off again; both times with the same flags. */
static PyObject* Checking(PyObject* module, PyObject* args) {
  int on, trace;
  (void)module;
  if (!PyArg_ParseTuple(args, "pp:checking", &on, &trace)) return NULL;
  (on ? kp_checking_enter : kp_checking_leave)(trace ? KP_CHECKING_TRACE : 0u);
  kpy_follow_watchers();
  Py_RETURN_NONE;
}

static PyObject* SetPeerLibrary(PyObject* module, PyObject* args) {
  const char* path;
  (void)module;
  if (!PyArg_ParseTuple(args, "s:set_peer_library", &path)) return NULL;
  if (kp_peer_set_library(path) != 0) return kpy_raise_host("set_peer_library", -1);
  Py_RETURN_NONE;
}

static PyObject* LiveObjects(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return PyLong_FromLongLong(kp_live_objects());
}

static PyObject* TensorOf(PyObject* object, const char* what, const char* who, uint32_t flags) {
  PyObject* tensor;
  KpAny value;
  if (kpy_to_any_for(object, what, flags, &value) != 0) return NULL;
  if (value.type_index != KP_TYPE_TENSOR) {
    kp_any_release(&value);
    return PyErr_Format(PyExc_TypeError, "%s: expected a tensor, got %R", who, (PyObject*)Py_TYPE(object));
  }
  tensor = kpy_tensor_from_object(value.v.v_obj);
  kp_any_release(&value);
  return tensor;
}

/* Any object as a kernpack.Tensor that shares its memory. */
static PyObject* AsTensor(PyObject* module, PyObject* object) {
  (void)module;
  return TensorOf(object, "value", "from_dlpack", 0);
}

/* As AsTensor, of what will be written to: refuses memory that is read-only. */
static PyObject* AsWriteableTensor(PyObject* module, PyObject* args) {
  PyObject* object;
  const char* what;
  (void)module;
  if (!PyArg_ParseTuple(args, "Os", &object, &what)) return NULL;
  return TensorOf(object, what, what, KP_PARAM_MUTATED);
}

static PyObject* LogDebug(PyObject* module, PyObject* line) {
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(line, &length);
  KpBytes bytes;
  (void)module;
  if (text == NULL) return NULL;
  bytes.data = text;
  bytes.size = (size_t)length;
  (void)kp_host()->log(kp_host(), KP_LOG_DEBUG, bytes);
  Py_RETURN_NONE;
}

static PyObject* TorchOnlyGradients(PyObject* module, PyObject* unused) {
  (void)module, (void)unused;
  return PyBool_FromLong(kpy_torch_only_gradients());
}

static PyObject* TorchAnyTangent(PyObject* module, PyObject* const* objects, Py_ssize_t count) {
  (void)module;
  return PyBool_FromLong(kpy_torch_any_tangent(objects, count));
}

PyMethodDef kpy_api_methods[] = {
    {"load", kpy_load, METH_VARARGS, "load(paths, flags) -> module capsule"},
    {"adopt", kpy_adopt, METH_O, "adopt(address of a KpModule that is never freed) -> module capsule"},
    {"module_facts", kpy_module_facts, METH_O, "module_facts(capsule) -> (name, version, path, digest, sdk_version)"},
    {"module_gradients", kpy_module_gradients, METH_O, "module_gradients(capsule) -> JSON text"},
    {"module_files", kpy_module_files, METH_NOARGS, "module_files() -> JSON text"},
    {"module_jvps", kpy_module_jvps, METH_O, "module_jvps(capsule) -> JSON text"},
    {"module_has_signatures", kpy_module_has_signatures, METH_O, "module_has_signatures(capsule) -> bool"},
    {"module_names", kpy_module_names, METH_O, "module_names(capsule) -> [function name]"},
    {"module_has", kpy_module_has, METH_VARARGS, "module_has(capsule, name) -> bool"},
    {"torch_register", kpy_torch_register, METH_O,
     "torch_register(capsule) -> namespace of the module's torch operators"},
    {"torch_only_gradients", TorchOnlyGradients, METH_NOARGS,
     "torch_only_gradients() -> whether grad mode is on in this thread and nothing else of torch's looks at calls"},
    {"torch_any_tangent", (PyCFunction)(void (*)(void))TorchAnyTangent, METH_FASTCALL,
     "torch_any_tangent(*objects) -> whether one is a tensor that may carry a tangent; sure only when False"},
    {"function", kpy_function_get, METH_VARARGS, "function(capsule, name, class) -> FunctionInfo"},
    {"set_hook", kpy_set_hook, METH_VARARGS,
     "set_hook(\"torch\" or \"jax\", callable or None): takes calls that the fast path must not; "
     "callable(function, args, kwargs, why) -> result"},
    {"jax_arrays", kpy_jax_arrays, METH_VARARGS,
     "jax_arrays(type, restored): the type of eager arrays; restored(exception) -> the exception to raise"},
    {"jax_remember", kpy_jax_remember, METH_VARARGS,
     "jax_remember(FunctionInfo, values, keyword names, order, program, waits) : calls with values like "
     "these, each an array or int, bool, float, str, None, go to program(*(values[i] for i in order)) from now on"},
    {"register_error", RegisterError, METH_VARARGS, "register_error(kind, class)"},
    {"error_class", ErrorClass, METH_O, "error_class(kind) -> what register_error said of it, or None"},
    {"raise_pending", RaisePending, METH_NOARGS,
     "raise_pending(): this thread's error in the host as a Python exception; for other extensions"},
    {"checking", Checking, METH_VARARGS, "checking(on, trace): one more, or one fewer, that wants calls to be checked"},
    {"profile_begin", kpy_profile_begin, METH_O,
     "profile_begin(max_events) -> capsule; its end, or freeing it, ends it"},
    {"profile_end", kpy_profile_end, METH_O, "profile_end(capsule)"},
    {"profile_text", kpy_profile_text, METH_VARARGS, "profile_text(capsule, KpProfileText) -> text"},
    {"set_peer_library", SetPeerLibrary, METH_VARARGS, "set_peer_library(path of libtvm_ffi)"},
    {"global_set", kpy_global_set, METH_VARARGS, "global_set(name, callable, replace)"},
    {"global_get", kpy_global_get, METH_O, "global_get(name) -> Object or None"},
    {"global_list", kpy_global_list, METH_NOARGS, "global_list() -> [name]"},
    {"global_drop", kpy_global_drop, METH_O, "global_drop(name)"},
    {"object_of", kpy_object_of, METH_O,
     "object_of(capsule of __kernpack_object__) -> Object, or what has a class for it"},
    {"object_class", kpy_object_class, METH_VARARGS,
     "object_class(type key, callable): what makes Python's form of objects of that type, given a kernpack.Object"},
    {"storage_stats", kpy_storage_stats_json, METH_NOARGS, "storage_stats() -> JSON text"},
    {"storage_get", kpy_storage_read, METH_VARARGS,
     "storage_get(module, key, scope, device, stream) -> (found, value)"},
    {"storage_set", kpy_storage_write, METH_VARARGS, "storage_set(module, key, scope, device, stream, value)"},
    {"storage_erase", kpy_storage_remove, METH_VARARGS, "storage_erase(module, key, scope, device, stream) -> bool"},
    {"storage_list", kpy_storage_keys, METH_VARARGS, "storage_list(module, scope, device, stream) -> [key]"},
    {"storage_reset_device", kpy_storage_drop_device, METH_O, "storage_reset_device(device)"},
    {"log_debug", LogDebug, METH_O, "log_debug(line): to the host's log, as kernels' messages (KERNPACK_LOG)"},
    {"use_torch_hook", kpy_use_torch_hook, METH_VARARGS,
     "use_torch_hook(name, bool or None) -> whether that hook into torch was in use; docs/private.md names them"},
    {"set_num_threads", SetNumThreads, METH_VARARGS, "set_num_threads(n)"},
    {"get_num_threads", GetNumThreads, METH_NOARGS, "get_num_threads() -> int"},
    {"live_objects", LiveObjects, METH_NOARGS, "live_objects() -> int; for leak tests"},
    {"as_tensor", AsTensor, METH_O, "as_tensor(object) -> Tensor that shares its memory"},
    {"as_writeable_tensor", AsWriteableTensor, METH_VARARGS,
     "as_writeable_tensor(object, name of the argument) -> Tensor that shares its memory, which is written to"},
    {"dtype_word", kpy_dtype_word, METH_O, "dtype_word(name of a contract) -> name in NumPy, torch and JAX"},
    {"empty", (PyCFunction)(void (*)(void))kpy_empty, METH_VARARGS | METH_KEYWORDS,
     "empty($module, shape, dtype, device=\"cpu\", scope=\"\")\n--\n\nAn uninitialised Tensor on a device."},
    {"backend_load", kpy_backend_load, METH_VARARGS, "backend_load(path)"},
    {"backend_info", kpy_backend_info, METH_O, "backend_info(open: bool) -> JSON text"},
    {"backend_names", kpy_backend_names, METH_NOARGS, "backend_names() -> [device type]"},
    {"device_count", kpy_device_count, METH_O, "device_count(device) -> (count, reason or None)"},
    {"device_facts", kpy_device_facts, METH_O, "device_facts(device) -> (flags, max_alignment, [scope], [property])"},
    {"device_property", kpy_device_property, METH_VARARGS, "device_property(device, name) -> value or None"},
    {"device_reset", kpy_device_reset, METH_O, "device_reset(device)"},
    {"workspace_stats", kpy_workspace_stats, METH_NOARGS, "workspace_stats() -> JSON text"},
    {"workspace_trim", kpy_workspace_trim, METH_O, "workspace_trim(device) -> bytes"},
    {"stream_new", kpy_stream_new, METH_VARARGS, "stream_new(device, priority) -> handle"},
    {"stream_free", kpy_stream_free, METH_VARARGS, "stream_free(device, handle)"},
    {"stream_sync", kpy_stream_sync, METH_VARARGS, "stream_sync(device, handle)"},
    {"stream_query", kpy_stream_query, METH_VARARGS, "stream_query(device, handle) -> bool"},
    {"stream_wait", kpy_stream_wait, METH_VARARGS, "stream_wait(device, waiting, other)"},
    {"stream_get", kpy_stream_get, METH_O, "stream_get(device) -> handle"},
    {"stream_set", kpy_stream_set, METH_VARARGS, "stream_set(device, handle) -> previous handle"},
    {"copy", kpy_tensor_copy, METH_VARARGS, "copy(from, to)"},
    {"fill", kpy_tensor_fill, METH_VARARGS, "fill(tensor, byte)"},
    {"host_view", kpy_tensor_host_view, METH_O, "host_view(tensor) -> CPU Tensor over the same memory"},
    {NULL, NULL, 0, NULL}};
