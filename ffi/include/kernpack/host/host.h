/* libkernpack's C API, for embedders and language bindings. C99.
 *
 * Conventions: every function returning int returns 0, or -1 with an error raised in this thread (kp_error_take). Objects
 * are borrowed as arguments and owned as results unless said otherwise. Strings are UTF-8. Any thread may call anything.
 * Handles (KpLoadedModule, KpLoadedFunction, KpSignature) are never freed: nothing is ever unloaded.
 */
#ifndef KERNPACK_HOST_HOST_H_
#define KERNPACK_HOST_HOST_H_

#include <kernpack/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(KP_HOST_STATIC)
#define KP_HOST_API
#else
#define KP_HOST_API KP_EXPORT_SYMBOL
#endif

/* The process's host table, which modules receive. Never NULL. */
KP_HOST_API const KpHost* kp_host(void);
/* "1.0.0"; static. */
KP_HOST_API const char* kp_version(void);
/* For embedders and leak tests: drops storage, globals and pooled workspaces. No module may be called afterwards. */
KP_HOST_API int kp_host_shutdown(void);
/* The number of live objects that this library made; for leak tests. */
KP_HOST_API int64_t kp_live_objects(void);

/* ---- errors (kernpack/host: ffi/src/values/error) ---- */
/* Moves this thread's error out: the last one raised through Kernpack or a loaded libtvm_ffi; clears both. *out is an
 * ERROR. If there is none, *out is InternalError "<who> returned <rc> without an error". `who` is borrowed, nullable. */
KP_HOST_API void kp_error_take(const char* who, int rc, KpAny* out);
/* True if this thread has an error raised through Kernpack. */
KP_HOST_API int kp_error_pending(void);
/* Drops this thread's error, if it has one. */
KP_HOST_API void kp_error_clear(void);
/* Raises; always returns -1. `format` is printf-like. */
KP_HOST_API int kp_raise(const char* kind, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* ---- objects (ffi/src/values/object) ---- */
KP_HOST_API int kp_string_new(KpBytes text, KpAny* out); /* SMALL_STR up to 7 bytes, else STR */
KP_HOST_API int kp_bytes_new(KpBytes data, KpAny* out); /* SMALL_BYTES up to 7 bytes, else BYTES */
KP_HOST_API int kp_shape_new(const int64_t* items, size_t count, KpAny* out); /* copies items; NULL when count is 0 */
KP_HOST_API int kp_array_new(const KpAny* items, size_t count,
                             KpAny* out); /* retains items; borrowed values are copied */
KP_HOST_API int kp_map_new(const KpAny* keys_and_values, size_t pairs,
                           KpAny* out); /* insertion order; later keys replace */
/* *out is an owned value and *out_found 1, or NONE and 0. */
KP_HOST_API int kp_map_get(const KpMapObject* map, const KpAny* key, KpAny* out, int32_t* out_found);
/* Iterates over a map: start with *cursor = 0. Returns 1 with borrowed key and value, or 0 at the end. */
KP_HOST_API int kp_map_next(const KpMapObject* map, uint64_t* cursor, KpAny* key, KpAny* value);
/* An ERROR object; copies the texts, and doesn't raise. */
KP_HOST_API int kp_error_new(KpBytes kind, KpBytes message, KpBytes backtrace, KpAny* out);
/* A function that calls `call` with self = context. `deleter` (nullable) runs with the last reference, on any thread. */
KP_HOST_API int kp_function_new(void* context, KpSafeCall call, void (*deleter)(void* context), KpAny* out);
/* The context of a function made by kp_function_new with this `call`; NULL for other functions. For garbage collectors. */
KP_HOST_API void* kp_function_context(KpObject* function, KpSafeCall call);
/* Wraps a foreign pointer; type_index is OPAQUE_PY_OBJECT or one from type_index(). deleter nullable. */
KP_HOST_API int kp_opaque_new(void* handle, int32_t type_index, void (*deleter)(void* handle), KpAny* out);
/* Calls a FUNCTION object. On failure the error stays raised. */
KP_HOST_API int kp_function_call(KpObject* function, const KpAny* args, int32_t num_args, KpAny* result);
/* True if `value`, which foreign code made, may be read: its type index is known, its lengths are valid, and its object exists,
 * has that type, and holds no invalid pointer. Error messages begin with `who`. An invalid value must not be released either. */
KP_HOST_API int kp_any_validate(const KpAny* value, const char* who);
/* The 64-bit words of an INT or BIG_INT, the least significant first, two's complement; borrowed from *value. */
KP_HOST_API int kp_big_int_words(const KpAny* value, const int64_t** out_words, size_t* out_count);
/* An INT or BIG_INT of such words. OverflowError if the value does not fit 64 bits and no apache-tvm-ffi with BIG_INT is
 * loaded. */
KP_HOST_API int kp_big_int_new(const int64_t* words, size_t count, KpAny* out);
/* An owned value from a borrowed one: RAW_STR -> STR, DLTENSOR_PTR is a TypeError, objects retained. */
KP_HOST_API int kp_any_own(const KpAny* borrowed, KpAny* out);
/* "Tensor", "str", "my_pkg.Plan", ...; static or interned; never NULL. */
KP_HOST_API const char* kp_type_name(int32_t type_index);

/* ---- tensors and DLPack (ffi/src/values/tensor) ---- */
typedef struct KpDLPackVersion {
  uint32_t major;
  uint32_t minor;
} KpDLPackVersion;
typedef struct KpDLManagedTensor { /* the unversioned protocol */
  KpDLTensor tensor;
  void* manager;
  void (*deleter)(struct KpDLManagedTensor* self); /* nullable */
} KpDLManagedTensor;
typedef struct KpDLManagedTensorVersioned {
  KpDLPackVersion version;
  void* manager;
  void (*deleter)(struct KpDLManagedTensorVersioned* self); /* nullable */
  uint64_t flags; /* bit 0 read-only, bit 1 copied, bit 2 sub-byte padded */
  KpDLTensor tensor;
} KpDLManagedTensorVersioned;
/* Refuses an invalid tensor (negative or huge ndim, NULL shape with ndim > 0, negative extents, products or offsets that
 * overflow, zero bits or lanes, unknown device types, NULL data with elements) with a ValueError whose text starts with
 * `what`. CPU pointers are not dereferenced. */
KP_HOST_API int kp_dltensor_validate(const KpDLTensor* tensor, const char* what);
/* Takes ownership of `managed` on success (its deleter, which may be NULL, runs with the TENSOR's last reference). On failure,
 * such as another DLPack major version, the caller still owns it and calls its deleter. Validates first. */
KP_HOST_API int kp_tensor_from_dlpack(KpDLManagedTensor* managed, KpAny* out);
/* kp_tensor_from_dlpack() for the versioned protocol: takes ownership on success, validates first. */
KP_HOST_API int kp_tensor_from_dlpack_versioned(KpDLManagedTensorVersioned* managed, KpAny* out);
/* Shares a TENSOR: *out holds a reference until its deleter runs. BufferError for a read-only one, which this protocol cannot
 * express. */
KP_HOST_API int kp_tensor_to_dlpack(KpObject* tensor, KpDLManagedTensor** out);
/* Shares a TENSOR by the versioned protocol, read-only ones included: *out holds a reference until its deleter runs. */
KP_HOST_API int kp_tensor_to_dlpack_versioned(KpObject* tensor, KpDLManagedTensorVersioned** out);
/* A CPU tensor in memory of this library (256-byte aligned, not zeroed), also inside a call with another allocator. */
KP_HOST_API int kp_tensor_new(const KpDLTensor* prototype, KpAny* out);
/* A TENSOR over memory that `deleter(context)` releases; shape and strides are copied. */
KP_HOST_API int kp_tensor_wrap(const KpDLTensor* tensor, void* context, void (*deleter)(void* context), KpAny* out);
/* DLPack's flags of a TENSOR: bit 0 read-only. 0 if another library made it. */
KP_HOST_API uint64_t kp_tensor_flags(const KpObject* tensor);
/* Makes a TENSOR of this library read-only for ever: sets bit 0. Call it before the tensor is shared. 0, or -1 raised. */
KP_HOST_API int kp_tensor_make_read_only(KpObject* tensor);
KP_HOST_API int kp_dtype_from_name(KpBytes name,
                                   KpDLDataType* out); /* "f32", "float32", "bfloat16", "f8_e4m3fn", ... */
KP_HOST_API const char* kp_dtype_name(KpDLDataType dtype); /* "f32"; interned */
KP_HOST_API int kp_device_from_name(KpBytes name, KpDLDevice* out); /* "cpu", "cuda:1" */
KP_HOST_API const char* kp_device_type_name(int32_t device_type); /* "cuda"; "device_type(99)" when unknown; interned */

/* ---- the context of one call (ffi/src/devices/call) ---- */
/* Information from a binding about the call in progress on this thread. Zero-initialise it; it may live on the caller's stack. */
typedef struct KpCallContext {
  KpDLDevice device; /* device_type 0: none */
  void* stream; /* of `device` */
  /* The calling framework's allocator; NULL: kp_tensor_new on the CPU, an error on other devices. */
  int (*tensor_alloc)(void* context, const KpDLTensor* prototype, KpAny* out);
  void* tensor_alloc_context;
  /* The framework's thread pool; NULL: the process's OpenMP runtime, or else the host's own pool. */
  int (*parallel_for)(void* context, int64_t n, int64_t grain, KpParallelBody body, void* body_context);
  void* parallel_context;
  int32_t parallel_threads; /* width of that pool */
  int (*check_interrupts)(void); /* nullable */
  struct KpCallContext* outer; /* set by enter */
} KpCallContext;
/* Begins a call on this thread; calls nest. */
KP_HOST_API void kp_call_enter(KpCallContext* context);
/* Ends the call that this thread began last. */
KP_HOST_API void kp_call_leave(KpCallContext* context);
/* The default for calls whose context has no check_interrupts. NULL: no check. */
KP_HOST_API void kp_set_interrupt_check(int (*check)(void));

/* ---- signatures (ffi/src/values/signature; kernpack/signature/ *.h) ---- */
/* A compiled contract. Immortal and interned by text. */
typedef struct KpSignature KpSignature;
/* Compiles text. On failure a ValueError naming position and reason. `name` (nullable): what the text's optional name must be. */
KP_HOST_API int kp_signature_parse(KpBytes text, const char* name, const KpSignature** out);
/* A contract as JSON: names, kinds, dtypes, shapes as terms, defaults, conditions, properties (docs/signature.md). STR. */
KP_HOST_API int kp_signature_json(const KpSignature* signature, KpAny* out);
/* The text as it was parsed; lives as long as the signature. */
KP_HOST_API const char* kp_signature_text(const KpSignature* signature);
/* The compiled form, for kp_sig_* (kernpack/host/signature.h); lives as long as the signature. */
KP_HOST_API const uint32_t* kp_signature_program(const KpSignature* signature);

/* ---- modules (ffi/src/modules, ffi/src/base/loader) ---- */
typedef struct KpLoadedModule KpLoadedModule;
typedef struct KpLoadedFunction { /* read-only; immortal */
  const char* name;
  const char* module_name;
  const KpSignature* signature; /* NULL: untyped */
  const uint32_t* program; /* of signature, or NULL */
  KpSafeCall cpu_call; /* the variant picked for this CPU; NULL: none runs on CPU */
  void* cpu_self;
  const char* doc; /* nullable */
  const char* cxx_types; /* nullable */
  const KpLoadedModule* module;
  const char* attributes; /* nullable: "key=value" lines from the author, each key once */
} KpLoadedFunction;

enum KpLoadFlags { KP_LOAD_DEFAULT = 0, KP_LOAD_PROBE = 1 /* load in a child process first */ };

/* Loads shared objects (length count; merged by function name: the variants of one op may be spread over them) as one module.
 * Each file is opened once, checked (ELF, architecture, truncation), hashed (SHA-256) and keyed by digest; loading the same content
 * twice returns the same module. A file of an installed distribution must have the hash in its RECORD. `.so` files with only
 * __tvm_ffi_ symbols are loaded by the installed apache-tvm-ffi. Errors: FileNotFoundError, OSError, ValueError, ImportError; the
 * message has the file, the expectation, the finding and the remedy. */
KP_HOST_API int kp_module_load(const char* const* paths, int32_t count, uint32_t flags, const KpLoadedModule** out);
/* As kp_module_load() of one file that was built with apache-tvm-ffi's SDK, whose functions get contracts. `contracts` is a JSON list:
 * [{"name": ours, "contract": its text, "calls": the function's own name (default: name), "args": [names of parameters, results and
 * dims, numbers, true, false, null] in the order in which the function takes them (default: parameters, results), "grad", "jvp":
 * [names, as in KP_GRAD and KP_JVP], "doc", "at": its place in a file, for errors}], all but the first two optional. The
 * module's digest depends on the text of the contracts. */
KP_HOST_API int kp_module_load_contracts(const char* path, KpBytes contracts, uint32_t flags,
                                         const KpLoadedModule** out);
/* Where apache-tvm-ffi's libtvm_ffi.so is, for modules built with its SDK; used when it is not loaded already and
 * KERNPACK_TVM_FFI_LIB is not set. NULL or "": unknown. Bindings call it; the file is opened only when needed. */
KP_HOST_API int kp_peer_set_library(const char* path);
/* The folders of Python's packages (site-packages), absolute paths: in these kp_module_load() looks for libraries of other wheels,
 * NVIDIA's say, that a module needs, after the folder that the module itself is installed in. Replaces those of the last call. Bindings
 * call it. Any thread. */
KP_HOST_API int kp_library_folders(const char* const* folders, int32_t count);
/* The files that were loaded, as JSON in path order: [{"path", "digest" (SHA-256), "verified": the "<name> <version>" of the
 * installed distribution whose RECORD has that digest, or null where no hash was found, "needs": [{"library", "path"}], the libraries
 * of other wheels that were found for it}]. */
KP_HOST_API int kp_module_files(KpAny* out);
/* Compares an installed file with its RECORD, and with the lock if one is required, without loading it, and records the result in
 * the cache folder, so that later loads needn't read the whole file, also in an image of this file system. *out: "<name>
 * <version>" of the distribution; "" if no RECORD has a hash for the file; then nothing is recorded. The errors of kp_module_load. */
KP_HOST_API int kp_module_warm(const char* path, KpAny* out);
/* A module embedded in the program (KP_STATIC_NAME). */
KP_HOST_API int kp_module_adopt(const KpModule* module, const KpLoadedModule** out);
KP_HOST_API const char* kp_module_name(const KpLoadedModule* module); /* the one in KP_MODULE */
KP_HOST_API const char* kp_module_version(const KpLoadedModule* module); /* the one in KP_MODULE */
KP_HOST_API const char* kp_module_sdk_version(const KpLoadedModule* module); /* of the headers that it was built with */
KP_HOST_API const char* kp_module_path(const KpLoadedModule* module); /* of the first file; "" when embedded */
KP_HOST_API const char* kp_module_digest(const KpLoadedModule* module); /* hex; of all files */
KP_HOST_API int32_t kp_module_function_count(const KpLoadedModule* module); /* 0, raised: a damaged table */
KP_HOST_API int32_t kp_module_signature_count(const KpLoadedModule* module); /* those with a signature */
/* In name order; NULL with an IndexError raised beyond the last. Nothing is compiled. */
KP_HOST_API const char* kp_module_function_name(const KpLoadedModule* module, int32_t index);
/* A function's contract is compiled on first use. NULL with no error raised: there is no function of that name; NULL
 * with a ValueError: its contract does not compile (IndexError: the index is out of range; ImportError: its entry is damaged). */
KP_HOST_API const KpLoadedFunction* kp_module_function_at(const KpLoadedModule* module, int32_t index);
/* The function of that name; otherwise as kp_module_function_at(). */
KP_HOST_API const KpLoadedFunction* kp_module_function(const KpLoadedModule* module, KpBytes name);
/* "<module>@<digest>/<function>" among the modules loaded in this process: what a compiled program stores instead of a
 * pointer. "<module>@v<major>/<function>", in what outlives the process, means the one loaded module of that major version.
 * ImportError naming the module to load when it is not loaded, AttributeError when it has no such function. */
KP_HOST_API int kp_function_find(KpBytes qualified_name, const KpLoadedFunction** out);
/* The variant for a device: most specific whose target the device satisfies. RuntimeError listing the variants when none. */
KP_HOST_API int kp_function_resolve(const KpLoadedFunction* function, KpDLDevice device, KpSafeCall* call, void** self);
/* STR: JSON list of {target, module_path, chosen, reason}. */
KP_HOST_API int kp_function_variants(const KpLoadedFunction* function, KpAny* out);
/* The module's KP_GRAD declarations as a JSON list of [forward, backward]. STR. */
KP_HOST_API int kp_module_gradients(const KpLoadedModule* module, KpAny* out);
/* The module's KP_JVP declarations as a JSON list of [forward, tangent]. STR. */
KP_HOST_API int kp_module_jvps(const KpLoadedModule* module, KpAny* out);

/* Checked call, for C programs and foreign hosts: args has the parameters in order (trailing ones with defaults may be left out);
 * with exactly params + results given, the last ones are destinations and *result is NONE; otherwise the results are
 * allocated and returned: one TENSOR, or an ARRAY of them. */
KP_HOST_API int kp_call(const KpLoadedFunction* function, const KpAny* args, int32_t num_args, KpAny* result);

/* ---- checking mode (ffi/src/observe/check; docs/debugging.md) ---- */
/* Calls are checked while the word at this address isn't zero (read it relaxed): process-wide, with KERNPACK_CHECK=1 or between
 * enter and leave. A binding that caches a KpLoadedFunction's cpu_call must call kp_function_resolve meanwhile, which returns a
 * function that checks. An error that a check finds is raised as a CheckError. */
KP_HOST_API const int32_t* kp_checking(void);
enum { KP_CHECKING_CALL = 1 << 16 }; /* added to that word for each checked call in progress */
enum KpCheckingFlags { KP_CHECKING_TRACE = 1 /* one line per call on stderr, before the kernel runs */ };
/* Checks calls until kp_checking_leave; flags: KpCheckingFlags. Nests. */
KP_HOST_API void kp_checking_enter(uint32_t flags);
KP_HOST_API void kp_checking_leave(uint32_t flags); /* the flags that were entered with */

/* ---- profiles (ffi/src/observe/profile; docs/profiling.md) ---- */
/* Calls are recorded while the word at this address isn't zero: KERNPACK_PROFILE, or between begin and end. As with kp_checking, a
 * binding that caches cpu_call must call kp_function_resolve meanwhile, once: its result stays valid until the process ends. */
KP_HOST_API const int32_t* kp_profiling(void);
/* A record of the calls of all threads between begin and end: per function and variant the count, the time inside the kernel and
 * the bytes of its tensors. On a device, that is the time to queue the work. Profiles may overlap. In a forked child a profile
 * starts again from zero. */
typedef struct KpProfile KpProfile;
enum { KP_PROFILE_EVENTS = 1000000 }; /* default capacity of a trace; 48 bytes per event */
enum KpProfileText { KP_PROFILE_TABLE = 0, KP_PROFILE_JSON = 1, KP_PROFILE_TRACE = 2 /* Chrome's trace events */ };
/* Calls beyond `max_events` are counted, but are not in the trace. *out is freed by kp_profile_free. */
KP_HOST_API int kp_profile_begin(uint64_t max_events, KpProfile** out);
KP_HOST_API int kp_profile_end(KpProfile* profile); /* a second call has no effect */
/* STR. May be called before the profile ends, for the calls so far. */
KP_HOST_API int kp_profile_text(KpProfile* profile, uint32_t kind, KpAny* out);
/* Ends the profile if it hasn't ended; NULL is allowed. */
KP_HOST_API void kp_profile_free(KpProfile* profile);

/* ---- registries, storage, threads ---- */
KP_HOST_API int kp_global_names(KpAny* out); /* ARRAY of STR, sorted */
KP_HOST_API int kp_global_remove(KpBytes name); /* ValueError: no function has that name */
KP_HOST_API int kp_storage_stats(KpAny* out); /* STR: JSON, per module, scope, device: keys, bytes, workspaces */
KP_HOST_API int kp_storage_reset_device(KpDLDevice device); /* drops stored values of that device or its streams */
KP_HOST_API int kp_extension_register(KpBytes name, uint32_t version, const void* table); /* `table`: never freed */
KP_HOST_API int kp_set_num_threads(int32_t n); /* of the host's own pool; ValueError below 1 */

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_HOST_H_ */
