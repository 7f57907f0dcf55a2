/* Kernpack's binary contract. Plain C99; includes no third-party header.
 *
 * Three contracts govern whether two binaries work together; they are never mixed:
 *
 *   platform      CPU architecture, C library, compiler family. Checked by the file format and the dynamic linker.
 *   call ABI      this header: the layouts and rules below. Checked by KpModule.abi_version / min_host_abi.
 *   shared state  what two copies of Kernpack in one process may share: nothing, except the host each module instance
 *                 was given.
 *
 * Values and objects have the layouts of the TVM FFI ABI (PyPI: apache-tvm-ffi), so that a kernel built with either SDK
 * runs under either host. tests/abi pins every offset below and compares each with the installed peer.
 *
 * Ownership: arguments are borrowed for the call. A result is owned by the caller, who releases it through the deleter in
 * the object's own header. Memory is always freed by the code that allocated it.
 *
 * Evolution: `struct_size` is sizeof at the writer's compile time. A reader accepts any size from version 1's
 * (KP_<STRUCT>_SIZE_V1) up, whatever its own is, and reads a later field only through KP_HAS_FIELD or KP_FIELD_OR. Spare
 * fields must be zero and are rejected otherwise, so that a later minor may claim them. Removing or reordering is a new
 * major with a new query symbol (kp_module_v2).
 */
#ifndef KERNPACK_ABI_H_
#define KERNPACK_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A minor adds fields or services at the end; a module states the oldest minor it can run on. */
#define KP_ABI_MAJOR 1
#define KP_ABI_MINOR 0
#define KP_ABI_VERSION ((uint32_t)((KP_ABI_MAJOR << 16) | KP_ABI_MINOR))
/* min_host_abi of a module that runs on every host of its major: it calls later services through accessors only. */
#define KP_ABI_OLDEST_HOST ((uint32_t)(KP_ABI_MAJOR << 16))

#define KP_STRINGIFY_(words) #words
#define KP_STRINGIFY(words) KP_STRINGIFY_(words) /* expands macros first */

/* The size of a struct up to the end of a field; whether a struct that begins with its size has a field; the field's
 * value, or `otherwise` if the struct's writer did not know the field. */
#define KP_SIZE_THROUGH(type, field) ((uint32_t)(offsetof(type, field) + sizeof(((const type*)0)->field)))
#define KP_HAS_FIELD(type, pointer, field) ((pointer)->struct_size >= KP_SIZE_THROUGH(type, field))
#define KP_FIELD_OR(type, pointer, field, otherwise) \
  (KP_HAS_FIELD(type, pointer, field) ? (pointer)->field : (otherwise))

#if defined(_WIN32)
#define KP_EXPORT_SYMBOL __declspec(dllexport)
#else
#define KP_EXPORT_SYMBOL __attribute__((visibility("default")))
#endif

/* ------------------------------------------------------------------ DLPack's layouts, declared here ----------- */

typedef struct KpDLDevice {
  int32_t device_type; /* KpDeviceType, or a value above 0x1000 that the host assigned */
  int32_t device_id;
} KpDLDevice;

typedef struct KpDLDataType {
  uint8_t code; /* KpDTypeCode */
  uint8_t bits; /* of one lane */
  uint16_t lanes;
} KpDLDataType;

typedef struct KpDLTensor {
  void* data; /* an address, or a backend's handle; may be NULL if the tensor has no elements */
  KpDLDevice device;
  int32_t ndim;
  KpDLDataType dtype;
  int64_t* shape;       /* length ndim, in elements; NULL allowed when ndim is 0 */
  int64_t* strides;     /* length ndim, in elements; NULL means compact row-major */
  uint64_t byte_offset; /* added to data */
} KpDLTensor;

/* DLPack's values. File formats and text store names, never these numbers. */
enum KpDeviceType {
  KP_DEVICE_CPU = 1,
  KP_DEVICE_CUDA = 2,
  KP_DEVICE_CUDA_HOST = 3,
  KP_DEVICE_OPENCL = 4,
  KP_DEVICE_VULKAN = 7,
  KP_DEVICE_METAL = 8,
  KP_DEVICE_VPI = 9,
  KP_DEVICE_ROCM = 10,
  KP_DEVICE_ROCM_HOST = 11,
  KP_DEVICE_EXT = 12,
  KP_DEVICE_CUDA_MANAGED = 13,
  KP_DEVICE_ONEAPI = 14,
  KP_DEVICE_WEBGPU = 15,
  KP_DEVICE_HEXAGON = 16,
  KP_DEVICE_MAIA = 17,
  KP_DEVICE_TRN = 18
};

/* DLPack's values. Values from KP_DTYPE_BLOCK_BEGIN up are reserved for block formats (Q4, Q8: several elements and
 * their scale in one unit), which no host accepts yet. Elements below one byte have DLPack's codes: INT of 4 bits,
 * FLOAT4_E2M1FN. */
enum KpDTypeCode {
  KP_DTYPE_INT = 0,
  KP_DTYPE_UINT = 1,
  KP_DTYPE_FLOAT = 2,
  KP_DTYPE_OPAQUE = 3,
  KP_DTYPE_BFLOAT = 4,
  KP_DTYPE_COMPLEX = 5,
  KP_DTYPE_BOOL = 6,
  KP_DTYPE_FLOAT8_E3M4 = 7,
  KP_DTYPE_FLOAT8_E4M3 = 8,
  KP_DTYPE_FLOAT8_E4M3B11FNUZ = 9,
  KP_DTYPE_FLOAT8_E4M3FN = 10,
  KP_DTYPE_FLOAT8_E4M3FNUZ = 11,
  KP_DTYPE_FLOAT8_E5M2 = 12,
  KP_DTYPE_FLOAT8_E5M2FNUZ = 13,
  KP_DTYPE_FLOAT8_E8M0FNU = 14,
  KP_DTYPE_FLOAT6_E2M3FN = 15,
  KP_DTYPE_FLOAT6_E3M2FN = 16,
  KP_DTYPE_FLOAT4_E2M1FN = 17,
  KP_DTYPE_BLOCK_BEGIN = 128
};

/* ------------------------------------------------------------------ values ------------------------------------ */

/* Text or bytes by pointer and length. `data` may be NULL if size is 0. Not NUL-terminated unless documented so. */
typedef struct KpBytes {
  const char* data;
  size_t size;
} KpBytes;

/* Type indices. Below 64: plain values, nothing to release. From 64 on: v_obj points to a KpObject.
 * Kernpack writes only 0-12 and 64-75, and BIG_INT if apache-tvm-ffi is loaded. Reading a value with any other static index is a TypeError.
 * Indices from KP_TYPE_DYNAMIC on are valid only in the host that assigned them; Kernpack's host assigns them from
 * KP_TYPE_DYNAMIC_OURS on. */
enum KpTypeIndex {
  KP_TYPE_NONE = 0,
  KP_TYPE_INT = 1,
  KP_TYPE_BOOL = 2,
  KP_TYPE_FLOAT = 3,
  KP_TYPE_OPAQUE_PTR = 4,
  KP_TYPE_DTYPE = 5,
  KP_TYPE_DEVICE = 6,
  KP_TYPE_DLTENSOR_PTR = 7,   /* argument only: a borrowed KpDLTensor* */
  KP_TYPE_RAW_STR = 8,        /* argument only: a borrowed NUL-terminated const char* */
  KP_TYPE_BYTE_ARRAY_PTR = 9, /* argument only: a borrowed KpBytes* */
  KP_TYPE_RVALUE_REF = 10,    /* argument only: a KpObject**; a callee that takes the object sets it to NULL */
  KP_TYPE_SMALL_STR = 11,     /* up to 7 bytes in v_bytes; small_len is the length */
  KP_TYPE_SMALL_BYTES = 12,
  KP_TYPE_STATIC_OBJECT_BEGIN = 64,
  KP_TYPE_OBJECT = 64,
  KP_TYPE_STR = 65,
  KP_TYPE_BYTES = 66,
  KP_TYPE_ERROR = 67,
  KP_TYPE_FUNCTION = 68,
  KP_TYPE_SHAPE = 69,
  KP_TYPE_TENSOR = 70,
  KP_TYPE_ARRAY = 71,
  KP_TYPE_MAP = 72,
  KP_TYPE_MODULE = 73,
  KP_TYPE_OPAQUE_PY_OBJECT = 74,
  KP_TYPE_LIST = 75,
  KP_TYPE_DICT = 76,            /* a mutable KpMapObject; 76 to 78 are the TVM FFI's, and Kernpack only reads them */
  KP_TYPE_VISIT_INTERRUPT = 77, /* opaque */
  KP_TYPE_BIG_INT = 78,         /* an integer outside 64 bits, opaque; see kp_big_int_words */
  KP_TYPE_STATIC_OBJECT_END = 79,
  KP_TYPE_DYNAMIC = 128,
  KP_TYPE_DYNAMIC_OURS = 0x10000
};

/* The header of every reference-counted object. Threads: counts are atomic; any thread may retain and release. */
typedef struct KpObject {
  uint64_t counts; /* strong in the low 32 bits, weak in the high 32; a new object holds 1 | 1 << 32 */
  int32_t type_index;
  uint32_t reserved;                        /* zero */
  void (*deleter)(void* object, int flags); /* NULL: immortal. flags: KP_DELETE_* */
} KpObject;

enum KpDeleteFlags {
  KP_DELETE_STRONG = 1, /* run the destructor, keep the memory */
  KP_DELETE_WEAK = 2,   /* free the memory */
  KP_DELETE_BOTH = 3
};

/* A tagged value of 16 bytes. Bytes of `v` that the type does not use are zero (values are compared bytewise). */
typedef struct KpAny {
  int32_t type_index;
  uint32_t small_len; /* length of a SMALL_STR or SMALL_BYTES, else zero */
  union {
    int64_t v_int; /* INT; BOOL as 0 or 1 */
    double v_float;
    void* v_ptr;
    const char* v_c_str;
    KpObject* v_obj;
    KpDLDataType v_dtype;
    KpDLDevice v_device;
    KpDLTensor* v_tensor;
    char v_bytes[8];
    uint64_t v_bits;
  } v;
} KpAny;

/* A function. `args` (length num_args) are borrowed until return. `*result` must be NONE on entry and is owned by the
 * caller on return; it never holds an argument-only index (7-10). Returns 0, or -1 with an error raised through the host
 * (section "host"). Any thread, unless the function's documentation says otherwise. */
typedef int (*KpSafeCall)(void* self, const KpAny* args, int32_t num_args, KpAny* result);

/* ------------------------------------------------------------------ object bodies ----------------------------- */
/* Each starts with a KpObject. Bytes of a string and items of a short array usually follow the body directly, but a
 * reader always uses the pointer. */

typedef struct KpStrObject { /* STR and BYTES; `bytes.data[bytes.size]` is NUL */
  KpObject header;
  KpBytes bytes;
} KpStrObject;

typedef struct KpShapeObject {
  KpObject header;
  const int64_t* data;
  size_t size;
} KpShapeObject;

typedef struct KpTensorObject {
  KpObject header;
  KpDLTensor tensor;
} KpTensorObject;

typedef struct KpFunctionObject {
  KpObject header;
  KpSafeCall call;      /* called with self = this object */
  void* cpp_call; /* the TVM FFI's; never read by another shared object; Kernpack sets it to NULL */
} KpFunctionObject;

typedef struct KpSequenceObject { /* ARRAY (immutable) and LIST (mutable) */
  KpObject header;
  KpAny* data;
  int64_t size;
  int64_t capacity;
  void (*data_deleter)(void* data); /* NULL: the items follow the body in the same memory */
} KpSequenceObject;

typedef struct KpMapObject { /* MAP; layout of the items is described in ffi/src/values/object/map.h */
  KpObject header;
  void* data;
  uint64_t size;
  uint64_t slots; /* most significant bit set: flat layout of at most 4 pairs of KpAny at data */
  void (*data_deleter)(void* data);
} KpMapObject;

typedef struct KpErrorObject {
  KpObject header;
  KpBytes kind;      /* "ValueError", ...; NUL-terminated */
  KpBytes message;   /* NUL-terminated */
  KpBytes backtrace; /* most recent call first; NUL-terminated */
  void (*update_backtrace)(void* self, const KpBytes* text, int32_t mode); /* mode 0 replaces, 1 appends */
  KpObject* cause;         /* owned, nullable */
  KpObject* extra_context; /* owned, nullable */
} KpErrorObject;

typedef struct KpOpaqueObject { /* OPAQUE_PY_OBJECT and opaque handles */
  KpObject header;
  void* handle;
} KpOpaqueObject;

/* ------------------------------------------------------------------ host -------------------------------------- */

typedef struct KpHost KpHost;
typedef struct KpInstance KpInstance; /* defined by the module; the host only stores the pointer */

/* Names a stored value. Borrowed for the call. Modules share a key only if it starts with "::"; other keys are the module's own. */
typedef struct KpStorageKey {
  KpBytes module; /* the module's name; ignored when key starts with "::" */
  KpBytes key; /* not empty */
  uint32_t scope; /* KpStorageScope */
  uint32_t reserved; /* zero */
  KpDLDevice device; /* read for scopes DEVICE and STREAM */
  void* stream; /* read for scope STREAM */
} KpStorageKey;

enum KpStorageScope { KP_SCOPE_PROCESS = 0, KP_SCOPE_DEVICE = 1, KP_SCOPE_STREAM = 2 };
enum KpWorkspaceFlags {
  KP_WORKSPACE_ZEROED = 1 /* zeroed when allocated or grown; between calls the contents stay */
};
enum KpLogLevel { KP_LOG_DEBUG = 0, KP_LOG_INFO = 1, KP_LOG_WARNING = 2, KP_LOG_ERROR = 3 };

/* Runs items [begin, end). Returns 0, or -1 with an error raised in the host. */
typedef int (*KpParallelBody)(void* context, int64_t begin, int64_t end);
/* Makes the value of a storage key, once. The storage takes ownership of `*out`. Returns 0, or -1 with an error raised. */
typedef int (*KpStorageFactory)(void* context, KpAny* out);

/* Every service in ABI order: X(version, name, parameters). The first parameter is always the host itself. Each returns 0,
 * or -1 with an error raised. Any thread. Strings are UTF-8 and borrowed. Append only; `version` is the minor that added a service.
 *
 *  raise              raises an error with this kind ("ValueError", ...) and message; backtrace may be empty. Returns -1.
 *  raise_object       raises an existing Error object; borrowed.
 *  take_error         moves the raised error out: *out is an owned ERROR, or NONE if none is raised.
 *  tensor_alloc       a new tensor with the prototype's ndim, shape, dtype and device, from the calling framework's
 *                     allocator if it has one; *out is an owned TENSOR.
 *  current_stream     the stream of this call on that device, borrowed; NULL on the CPU.
 *  workspace          at least `bytes` bytes on key->device, 256-byte aligned, kept between calls under `key`: one per
 *                     stream, on the CPU one per thread. *out_data stays valid until the call returns.
 *  storage_get        *out is an owned value and *out_found 1, or NONE and 0.
 *  storage_set        stores a new reference to *value (borrowed); replaces the previous value.
 *  storage_get_or_init as get. If the key is absent, one caller runs the factory and the others wait. A factory that fails stores nothing.
 *  storage_erase      *out_erased is 1 if the key existed.
 *  storage_list       *out is an ARRAY of the module's keys (STR) in that scope, sorted.
 *  global_get         *out is an owned FUNCTION, or NONE if there is none of that name.
 *  global_set         registers a function process-wide; without `replace` an existing name is a ValueError.
 *  type_index         finds, or assigns, the run-time index of an object type by its key ("my_pkg.Plan").
 *  parallel_for       runs body over [0, n) in chunks of at least `grain`; returns when all have run. The first failing chunk's
 *                     error becomes the error of the call. Nested calls run serially.
 *  num_threads        *out is the number of threads that parallel_for may use here.
 *  log                one line, without a newline at its end.
 *  check_interrupts   -1 with KeyboardInterrupt raised if the user pressed Ctrl-C.
 *  get_extension      *out is a table registered under name and version by an embedder, valid until the process ends; or NULL.
 */
#define KP_HOST_SERVICES(X)                                                                                       \
  X(0, raise, (const KpHost* host, KpBytes kind, KpBytes message, KpBytes backtrace))                             \
  X(0, raise_object, (const KpHost* host, KpObject* error))                                                       \
  X(0, take_error, (const KpHost* host, KpAny* out))                                                              \
  X(0, tensor_alloc, (const KpHost* host, const KpDLTensor* prototype, KpAny* out))                               \
  X(0, current_stream, (const KpHost* host, KpDLDevice device, void** out))                                       \
  X(0, workspace, (const KpHost* host, const KpStorageKey* key, uint64_t bytes, uint32_t flags, void** out_data)) \
  X(0, storage_get, (const KpHost* host, const KpStorageKey* key, KpAny* out, int32_t* out_found))                \
  X(0, storage_set, (const KpHost* host, const KpStorageKey* key, const KpAny* value))                            \
  X(0, storage_get_or_init,                                                                                       \
    (const KpHost* host, const KpStorageKey* key, KpStorageFactory factory, void* context, KpAny* out))           \
  X(0, storage_erase, (const KpHost* host, const KpStorageKey* key, int32_t* out_erased))                         \
  X(0, storage_list, (const KpHost* host, const KpStorageKey* key, KpAny* out))                                   \
  X(0, global_get, (const KpHost* host, KpBytes name, KpAny* out))                                                \
  X(0, global_set, (const KpHost* host, KpBytes name, KpObject* function, int32_t replace))                       \
  X(0, type_index, (const KpHost* host, KpBytes type_key, int32_t* out))                                          \
  X(0, parallel_for, (const KpHost* host, int64_t n, int64_t grain, KpParallelBody body, void* context))          \
  X(0, num_threads, (const KpHost* host, int32_t* out))                                                           \
  X(0, log, (const KpHost* host, int32_t level, KpBytes line))                                                    \
  X(0, check_interrupts, (const KpHost* host))                                                                    \
  X(0, get_extension, (const KpHost* host, KpBytes name, uint32_t version, const void** out))

/* KP_IF_OLDEST_(version, a, b) is `a` for services of 1.0, `b` for later ones. */
#define KP_OLDEST_0_ , KP_TAKE_FIRST_
#define KP_TAKE_FIRST_(a, b) a
#define KP_TAKE_SECOND_(a, b) b
#define KP_CHOOSE_SECOND_(a, b, ...) b
#define KP_CHOOSE_(...) KP_CHOOSE_SECOND_(__VA_ARGS__)
#define KP_IF_OLDEST_(version, a, b) KP_CHOOSE_(KP_OLDEST_##version##_, KP_TAKE_SECOND_, ~)(a, b)

/* The table of a 1.0 host ends before the services of 1.1. So their fields have names (log_of_1_1) that aren't used by
 * accident: modules call kp_host_<name>() of kernpack/service.h, which raises if the host lacks the service. */
#define KP_SERVICE_FIELD_(version, name) KP_IF_OLDEST_(version, name, name##_of_1_##version)
#define KP_HOST_DECLARE_SERVICE_(version, name, parameters) int(*KP_SERVICE_FIELD_(version, name)) parameters;
struct KpHost {
  uint32_t struct_size; /* never moves, like abi_version and raise: an incompatibility can always be reported */
  uint32_t abi_version;
  KP_HOST_SERVICES(KP_HOST_DECLARE_SERVICE_)
};
#undef KP_HOST_DECLARE_SERVICE_
#define KP_HOST_SIZE_V1 KP_SIZE_THROUGH(KpHost, get_extension)

/* ------------------------------------------------------------------ module ------------------------------------ */

enum KpDefKind {
  KP_DEF_FUNCTION = 0,
  KP_DEF_GRADIENT = 1, /* `name`: the forward function; `info->target`: the backward function; the rest is NULL */
  KP_DEF_JVP = 2 /* `name`: the forward function; `info->target`: the tangent function; the rest is NULL */
  /* 3 to 15 are reserved for links of later minors. For second-order gradients, KP_GRAD links a backward function. */
};

enum KpFunctionFlags {
  /* For code that serves many functions (programs, interpreters, closures of other languages): `call` gets a
   * KpFunctionSelf as self, which holds this function's `context`. */
  KP_FUNCTION_TAKES_CONTEXT = 1
};

/* The extension KP_BACKTRACE_EXTENSION, version 1, for code whose stack is gone when it raises, for example after a C++ exception
 * was caught. A host has it if the process requests stacks of errors (KERNPACK_BACKTRACE). */
typedef struct KpBacktrace {
  uint32_t struct_size;
  uint32_t reserved; /* zero */
  /* Stores the return addresses of the calling function and its callers, at most `capacity`. Returns their number. */
  int32_t (*capture)(void** frames, int32_t capacity);
  /* As KpHost.raise, with the stack that `capture` stored. */
  int (*raise)(const KpHost* host, KpBytes kind, KpBytes message, KpBytes backtrace, void* const* frames,
               int32_t num_frames);
} KpBacktrace;
#define KP_BACKTRACE_SIZE_V1 KP_SIZE_THROUGH(KpBacktrace, raise)
#define KP_BACKTRACE_EXTENSION "kernpack.backtrace"

/* Reserved for an extension (get_extension) that reports calls to profilers and tracers. No host has it yet. */
#define KP_PROFILER_EXTENSION "kernpack.profiler"

/* Describes an exported function, besides its name and its code. */
typedef struct KpFunctionInfo {
  uint32_t struct_size;
  uint32_t kind; /* KpDefKind */
  const char* target; /* NULL: the baseline; else a target string this variant is for ("llvm -mcpu=x86-64-v3") */
  const char* signature; /* the contract's text; NULL: untyped, positional only */
  const uint32_t* program; /* the compiled contract (kernpack/signature/program.h); NULL: the host compiles the text */
  uint32_t program_words; /* length of program */
  uint32_t flags; /* KpFunctionFlags; other bits zero */
  const char* doc; /* nullable, UTF-8 */
  const char* cxx_types; /* nullable: deduced C++ parameter types of an untyped function, "(int, Tensor) -> None" */
  void* context; /* with KP_FUNCTION_TAKES_CONTEXT the author's pointer, else NULL. The host never dereferences it */
  const char* attributes; /* nullable, UTF-8: "key=value" lines from the author; those of the first variant are used */
  const void* spare[2]; /* zero */
} KpFunctionInfo;
#define KP_FUNCTION_INFO_SIZE_V1 KP_SIZE_THROUGH(KpFunctionInfo, spare)

/* The target of `self` in a call of a function with KP_FUNCTION_TAKES_CONTEXT. The host makes one for each such function when
 * it makes the instance, and never changes it while the instance lives. */
typedef struct KpFunctionSelf {
  uint32_t struct_size;
  uint32_t reserved; /* zero */
  const KpHost* host;
  KpInstance* instance; /* the result of KpModule.create; NULL without create */
  void* context; /* KpFunctionInfo.context */
} KpFunctionSelf;
#define KP_FUNCTION_SELF_SIZE_V1 KP_SIZE_THROUGH(KpFunctionSelf, context)

/* One exported function, or one variant of it. Everything it points to is immutable and lives as long as the process.
 * A module's functions are an array of these, so the struct never grows: a later minor adds fields to KpFunctionInfo. It is
 * small, because the dynamic linker relocates each element at load. */
typedef struct KpFunctionDef {
  const char* name; /* [a-z_][a-z0-9_]* */
  KpSafeCall call; /* called with self = the KpInstance of the calling host (see KpFunctionFlags); NULL for a link */
  const KpFunctionInfo* info; /* NULL: an untyped baseline without a description */
} KpFunctionDef;

/* The result of the query symbol: one immutable, constant-initialised table, the same for every host and thread. The query
 * has no side effects. */
typedef struct KpModule {
  uint32_t struct_size;
  uint32_t abi_version; /* of the headers it was compiled with */
  uint32_t min_host_abi; /* the oldest host it runs on */
  uint32_t reserved; /* zero */
  const char* name; /* [A-Za-z_][A-Za-z0-9_.]* */
  const char* version; /* of the module, as its author writes it */
  const char* sdk_version;
  const char* content_hash; /* nullable: set by the build; if NULL, the host hashes the file */
  const KpFunctionDef* functions; /* [functions, functions_end) */
  const KpFunctionDef* functions_end;
  /* Makes the instance for this host; may run the author's KP_MODULE_INIT. Returns 0, or -1 with an error raised through `host`.
   * NULL: the module has no instances, and its functions get self = NULL. */
  int (*create)(const KpHost* host, KpInstance** out);
  void (*destroy)(KpInstance* instance); /* nullable */
  /* Zero. kernpack_add_module(... MANY_FUNCTIONS) sets the last one after the link: docs/abi.md, "Tables without relocations". */
  const void* spare[4];
} KpModule;
#define KP_MODULE_SIZE_V1 KP_SIZE_THROUGH(KpModule, spare)

typedef const KpModule* (*KpModuleQuery)(void);
#define KP_MODULE_QUERY_PREFIX "kp_module_v" /* and the ABI's major: a host names a major that it doesn't support */
#define KP_MODULE_QUERY_SYMBOL "kp_module_v1"
#define KP_ALIAS_PREFIX "__tvm_ffi_" /* `__tvm_ffi_<name>`: the same function for hosts of the TVM FFI ABI */

/* ------------------------------------------------------------------ inline helpers ---------------------------- */

static inline KpBytes kp_bytes(const char* text) {
  KpBytes b;
  size_t n = 0;
  while (text && text[n]) ++n;
  b.data = text;
  b.size = n;
  return b;
}

static inline KpAny kp_none(void) {
  KpAny a;
  a.type_index = KP_TYPE_NONE;
  a.small_len = 0;
  a.v.v_bits = 0;
  return a;
}

static inline int kp_is_object(const KpAny* a) { return a->type_index >= KP_TYPE_STATIC_OBJECT_BEGIN; }

/* `object` may be NULL. */
static inline void kp_retain(KpObject* object) {
  if (object) (void)__atomic_fetch_add(&object->counts, 1, __ATOMIC_RELAXED);
}

/* `object` may be NULL. The last strong reference destroys it, the last weak one frees it. */
static inline void kp_release(KpObject* object) {
  const uint64_t one_weak = (uint64_t)1 << 32;
  uint64_t before;
  if (!object) return;
  /* Not a release and a fence: ThreadSanitizer does not understand fences. */
  before = __atomic_fetch_sub(&object->counts, 1, __ATOMIC_ACQ_REL);
  if ((uint32_t)before != 1) return;
  if (!object->deleter) return;
  if (before == one_weak + 1) {
    object->deleter(object, KP_DELETE_BOTH);
    return;
  }
  object->deleter(object, KP_DELETE_STRONG);
  before = __atomic_fetch_sub(&object->counts, one_weak, __ATOMIC_ACQ_REL);
  if ((before >> 32) == 1) object->deleter(object, KP_DELETE_WEAK);
}

static inline void kp_any_retain(const KpAny* a) {
  if (kp_is_object(a)) kp_retain(a->v.v_obj);
}

static inline void kp_any_release(KpAny* a) {
  if (kp_is_object(a)) kp_release(a->v.v_obj);
  *a = kp_none();
}

/* The tensor of a DLTENSOR_PTR or TENSOR value, borrowed; NULL for other values. */
static inline const KpDLTensor* kp_any_tensor(const KpAny* a) {
  if (a->type_index == KP_TYPE_DLTENSOR_PTR) return a->v.v_tensor;
  if (a->type_index == KP_TYPE_TENSOR) return &((const KpTensorObject*)(const void*)a->v.v_obj)->tensor;
  return NULL;
}

/* Strides of a compact row-major tensor, in elements, into strides[ndim]. An empty dim counts as 1, as in the frameworks.
 * Next to an empty dim the product of the others may wrap around, which is harmless: the tensor has no elements. */
static inline void kp_row_major_strides(int32_t ndim, const int64_t* shape, int64_t* strides) {
  uint64_t step = 1;
  int32_t i;
  for (i = ndim; i-- > 0;) {
    strides[i] = (int64_t)step;
    if (shape[i] > 1) step *= (uint64_t)shape[i];
  }
}

/* The text of a RAW_STR, SMALL_STR or STR value, borrowed from *a. Returns 1, or 0 if the value isn't a string. */
static inline int kp_any_str(const KpAny* a, KpBytes* out) {
  if (a->type_index == KP_TYPE_RAW_STR) {
    *out = kp_bytes(a->v.v_c_str);
  } else if (a->type_index == KP_TYPE_SMALL_STR) {
    out->data = a->v.v_bytes;
    out->size = a->small_len;
  } else if (a->type_index == KP_TYPE_STR) {
    *out = ((const KpStrObject*)(const void*)a->v.v_obj)->bytes;
  } else {
    return 0;
  }
  return 1;
}

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_ABI_H_ */
