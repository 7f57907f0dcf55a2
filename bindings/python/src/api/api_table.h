/* kernpack._core's functions, a row each: X(number of arguments, name, who, result, kind and name of each argument).
 *
 * A row declares `PyObject* kpy_api_<name>(...)`, with the arguments as the C types of their kinds (api_arguments.h), and makes the
 * Python function that reads them. `who` is what the function's caller calls it, in errors. kernpack/_core.pyi has the same
 * functions for type checkers. */
#ifndef KERNPACK_PYTHON_API_API_TABLE_H_
#define KERNPACK_PYTHON_API_API_TABLE_H_

/* clang-format off */
#define KPY_API(X) \
  /* modules: api_module.c, function.c */ \
  X(3, load, "load", "-> a loaded module, a capsule", TUPLE, paths, UINT32, flags, OPT_STR, contracts) \
  X(1, adopt, "adopt", "of a KpModule that is never freed -> a loaded module", ADDRESS, address) \
  X(1, module_facts, "module_facts", "-> (name, version, path, digest, sdk_version)", MODULE, module) \
  X(1, module_gradients, "module_gradients", "-> JSON text", MODULE, module) \
  X(1, module_jvps, "module_jvps", "-> JSON text", MODULE, module) \
  X(1, library_folders, "library_folders", "in which libraries of other wheels are looked for", TUPLE, folders) \
  X(0, module_files, "module_files", "-> JSON text") \
  X(1, module_warm, "kernpack verify", "-> \"name version\", or \"\" if no RECORD has a hash for the file", PATH, path) \
  X(1, module_has_signatures, "load", "-> bool", MODULE, module) \
  X(1, module_names, "load", "-> [function name]", MODULE, module) \
  X(2, module_has, "module_has", "-> bool", MODULE, module, STR, name) \
  X(1, torch_register, "torch_register", "-> the namespace of the module's torch operators", MODULE, module) \
  X(3, function, "function", "-> FunctionInfo", MODULE, module, STR, name, CLASS, cls) \
  /* frameworks: hooks.c, way_torch.c, below_torch.c, jax_programs.c, private_torch/switch.c */ \
  X(2, set_hook, "set_hook", "of \"torch\", \"jax\" or \"program\": takes calls that the fast path must not; " \
    "hook(function, args, kwargs, why) -> result", STR, framework, HOOK, hook) \
  X(2, jax_arrays, "jax_arrays", "the type of eager arrays; restored(exception) -> the exception to raise", \
    CLASS, array, CALLABLE, restored) \
  X(1, jax_tracing, "jax_tracing", "asks() -> whether JAX traces in this thread; for calls without an array, which nothing " \
    "else tells", CALLABLE, asks) \
  X(6, jax_remember, "jax_remember", "calls with values like these, each an array or int, bool, float, str, None, go to " \
    "program(*(values[i] for i in order)) from now on", \
    INFO, info, TUPLE, values, TUPLE, names, TUPLE, order, CALLABLE, program, BOOL, waits) \
  X(4, torch_ask_by, "torch_ask_by", "torch's functions by which torch_way finds out, without the hooks: takes_over(tensor), " \
    "transforms(), unpack(tensor), traces()", \
    CALLABLE, takes_over, CALLABLE, transforms, CALLABLE, unpack, CALLABLE, traces) \
  X(2, torch_levels_by, "torch_levels_by", "torch's functions that open a level of forward mode, and close it", \
    CALLABLE, open, CALLABLE, close) \
  X(3, torch_below_by, "torch_below_by", "the class of torch's guard for calls below autograd; raise_as_meant(error); is_tracing()", \
    CALLABLE, guard, CALLABLE, raise_as_meant, CALLABLE, is_tracing) \
  X(2, torch_operator, "torch_operator", "the function is an operator that takes its own arguments; whole(*args, **kwargs) is torch's " \
    "call of it -> a quicker call of it", INFO, info, CALLABLE, whole) \
  X(2, torch_calls, "torch_calls", "calls of the function that torch must see go to call(*args, **kwargs)", INFO, info, \
    CALLABLE, call) \
  X(2, use_torch_hook, "use_torch_hook", "True, False or None: leave it -> whether the hook into torch was in use; " \
    "docs/private.md names them", STR, name, ANY, on) \
  /* errors, checks, threads: api.c */ \
  X(2, register_error, "register_error", "the class of an error's kind", STR, kind, EXCEPTION, error) \
  X(1, error_class, "error_class", "-> what register_error said, or None", STR, kind) \
  X(0, raise_pending, "kernpack", "raises this thread's error in the host; for other extensions") \
  X(2, checking, "checking", "one more, or one fewer, that wants calls to be checked", BOOL, on, BOOL, trace) \
  X(1, log_debug, "log_debug", "to the host's log, as kernels' messages (KERNPACK_LOG)", STR, line) \
  X(1, set_peer_library, "set_peer_library", "of libtvm_ffi", PATH, path) \
  X(1, set_num_threads, "set_num_threads", "for kernels that use kp::parallel_for", INT, n) \
  X(0, get_num_threads, "get_num_threads", "-> int") \
  X(0, live_objects, "live_objects", "-> int; for leak tests") \
  /* profiles: api_profile.c */ \
  X(1, profile_begin, "profile", "-> a profile, a capsule; profile_end, or freeing it, ends it", UINT64, max_events) \
  X(1, profile_end, "profile", "", PROFILE, recorded) \
  X(2, profile_text, "profile", "of a KpProfileText -> text", PROFILE, recorded, UINT32, kind) \
  /* names and objects: api_global.c, object_class.c */ \
  X(3, global_set, "register_func", "", STR, name, FUNCTION, function, BOOL, replace) \
  X(1, global_get, "get_func", "-> Object or None", STR, name) \
  X(0, global_list, "list_funcs", "-> [name]") \
  X(1, global_drop, "remove_func", "", STR, name) \
  X(1, object_of, "object_of", "-> Object, or what has a class for it", OBJECT, capsule) \
  X(2, object_class, "object_class", "what makes Python's form of objects of that type, given a kernpack.Object", \
    STR, type_key, CALLABLE, callable) \
  /* storage: api_storage.c */ \
  X(0, storage_stats, "storage.stats", "-> JSON text") \
  X(5, storage_get, "storage.get", "-> (found, value)", \
    STR, module, STR, key, UINT32, scope, DEVICE_OR_NONE, device, ADDRESS, stream) \
  X(6, storage_set, "storage.set", "", \
    STR, module, STR, key, UINT32, scope, DEVICE_OR_NONE, device, ADDRESS, stream, VALUE, value) \
  X(5, storage_erase, "storage.erase", "-> bool", \
    STR, module, STR, key, UINT32, scope, DEVICE_OR_NONE, device, ADDRESS, stream) \
  X(5, storage_list, "storage.keys", "-> [key]", \
    STR, module, STR, key, UINT32, scope, DEVICE_OR_NONE, device, ADDRESS, stream) \
  X(1, storage_reset_device, "storage.reset_device", "", DEVICE, device) \
  /* tensors: api_tensor.c, dtype.c */ \
  X(1, as_tensor, "from_dlpack", "-> Tensor that shares its memory", ANY, x) \
  X(2, as_writeable_tensor, "as_writeable_tensor", "-> Tensor that shares its memory, which is written to; `what` names it", \
    ANY, x, C_STR, what) \
  X(1, dtype_word, "dtype_word", "of a contract's name of a dtype -> the name in NumPy, torch and JAX", STR, name) \
  X(4, empty, "empty", "An uninitialised Tensor on a device.", ANY, shape, DTYPE, dtype, OPT_DEVICE, device, OPT_STR, scope) \
  X(2, copy, "copy", "", TENSOR, source, TARGET, target) \
  X(2, fill, "fill", "with a byte", TARGET, tensor, INT, value) \
  X(1, host_view, "host_view", "-> CPU Tensor over the same memory", TENSOR, tensor) \
  /* devices: api_device.c */ \
  X(1, backend_load, "load_backend", "", PATH, path) \
  X(1, backend_info, "kernpack.info", "-> JSON text", BOOL, open) \
  X(0, backend_names, "kernpack.devices", "-> [device type]") \
  X(1, device_count, "kernpack.devices", "-> (count, reason or None)", DEVICE, device) \
  X(1, device_facts, "kernpack.device", "-> (flags, max_alignment, [scope], [property])", DEVICE, device) \
  X(2, device_property, "get_property", "-> value or None", DEVICE, device, STR, name) \
  X(1, device_reset, "reset", "", DEVICE, device) \
  /* streams, whose handles are ints: api_stream.c */ \
  X(2, stream_new, "Stream", "-> handle", DEVICE, device, INT, priority) \
  X(2, stream_free, "Stream", "", DEVICE, device, ADDRESS, stream) \
  X(2, stream_sync, "sync", "", DEVICE, device, ADDRESS, stream) \
  X(2, stream_query, "done", "-> bool", DEVICE, device, ADDRESS, stream) \
  X(3, stream_wait, "wait", "", DEVICE, device, ADDRESS, waiting, ADDRESS, other) \
  X(1, stream_get, "current_stream", "-> handle", DEVICE, device) \
  X(2, stream_set, "stream", "-> the handle before it", DEVICE, device, ADDRESS, stream)
/* clang-format on */

#endif /* KERNPACK_PYTHON_API_API_TABLE_H_ */
