/* The interface of device backends. Plain C99; it evolves by the rules of abi.h: services newer than 1.0 have fields named
 * name_of_1_1, and modules call them through kernpack/device_service.h.
 *
 * A backend is one KpBackend. If it is compiled into a program, register it with kp_backend_register()
 * (kernpack/host/device.h). A plugin is a shared object that doesn't link to Kernpack and exports
 *
 *     const KpBackend* kp_backend_v1(int32_t index);   (index 0, 1, ...; NULL after the last)
 *
 * and is found through kp_backend_load(), KERNPACK_BACKENDS or the Python entry point group `kernpack.backends`.
 *
 * Registering is cheap and doesn't use the driver. open() does, when a device is first needed. A machine without the
 * driver or without a device isn't an error: open() or count() returns the reason, which kernpack.info() prints.
 *
 * Callers use a backend through the host, whose table forwards to the backend's. A backend may rely on this:
 *   - open() returned 0 with a table, once, and count() is called before any other service;
 *   - a service whose first argument after `api` is a device gets one of the backend's type with 0 <= id < count; each
 *     device of a copy is such a device, the CPU, or one that can_copy allowed;
 *   - out-pointers are not NULL, KpAny results are NONE on entry, alignments are powers of two, sizes fit int64_t;
 *   - after fork() the child never enters the backend that its parent opened, unless it sets KP_DEVICE_FORK_SAFE;
 *   - no service is called at process exit.
 * It checks everything else itself. Any thread may call any service at any time. Services other than set_device leave the
 * thread's active device unchanged.
 */
#ifndef KERNPACK_DEVICE_API_H_
#define KERNPACK_DEVICE_API_H_

#include <kernpack/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KP_DEVICE_ABI_MAJOR 1
#define KP_DEVICE_ABI_MINOR 0
#define KP_DEVICE_ABI_VERSION ((uint32_t)((KP_DEVICE_ABI_MAJOR << 16) | KP_DEVICE_ABI_MINOR))

/* The features of a backend. A service that needs a flag may be NULL if the flag is not set. */
enum KpDeviceFlags {
  KP_DEVICE_ADDRESSES = 1 << 0, /* handles are addresses: handle + byte offset is valid, also in DLPack */
  KP_DEVICE_HOST_ACCESS = 1 << 1, /* the CPU reads and writes memory of the default scope at those addresses */
  KP_DEVICE_STREAMS = 1 << 2, /* more than one queue of commands */
  KP_DEVICE_EVENTS = 1 << 3, /* points in a stream that the host and other streams can wait for */
  KP_DEVICE_STRIDED_COPY = 1 << 4, /* copies rows with a stride between them */
  KP_DEVICE_ASYNC_COPY = 1 << 5, /* copies that return before the host memory is free for reuse */
  KP_DEVICE_CODE = 1 << 6, /* runs device code: load_code, get_kernel, launch */
  KP_DEVICE_PEER_COPY = 1 << 7, /* copies directly between devices if can_copy says so */
  KP_DEVICE_ASYNC_ALLOC = 1 << 8, /* allocates and frees in the order of a stream */
  KP_DEVICE_FORK_SAFE = 1 << 9, /* a forked child may use what its parent opened */
  KP_DEVICE_COOPERATIVE = 1 << 10 /* launches may have the flag KP_LAUNCH_COOPERATIVE */
};
#define KP_DEVICE_OPTIONAL (1u << 31) /* of a service: it may be NULL, and the host has a replacement */

/* The attributes of get_attr: INT, or text if noted below; NONE if the device has no such attribute, never an invented value. */
enum KpDeviceAttrKind {
  KP_ATTR_EXIST = 0, /* BOOL; the host answers it, for any id and without a driver */
  KP_ATTR_MAX_THREADS_PER_BLOCK = 1, /* work items of a work-group */
  KP_ATTR_WARP_SIZE = 2, /* threads that run in lock step; NONE if unknown */
  KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK = 3, /* bytes */
  KP_ATTR_COMPUTE_VERSION = 4, /* text, "9.0" */
  KP_ATTR_DEVICE_NAME = 5, /* text */
  KP_ATTR_MAX_CLOCK_RATE = 6, /* kHz */
  KP_ATTR_MULTI_PROCESSOR_COUNT = 7,
  KP_ATTR_MAX_THREAD_DIMENSIONS = 8, /* text, "[x, y, z]" */
  KP_ATTR_MAX_REGISTERS_PER_BLOCK = 9, /* of 32 bits */
  KP_ATTR_GCN_ARCH = 10, /* text */
  KP_ATTR_API_VERSION = 11, /* INT in the interface's own form: 12040 is CUDA 12.4, 300 is OpenCL 3.0 */
  KP_ATTR_DRIVER_VERSION = 12, /* text */
  KP_ATTR_L2_CACHE_SIZE_BYTES = 13,
  KP_ATTR_TOTAL_GLOBAL_MEMORY = 14, /* bytes */
  KP_ATTR_AVAILABLE_GLOBAL_MEMORY = 15, /* bytes free at the moment */
  KP_ATTR_IMAGE_PITCH_ALIGNMENT = 16 /* bytes */
};
#define KP_DEVICE_ATTR_COUNT 17

/* A place in memory. `handle` is an address on the CPU, else a handle that alloc returned. */
typedef struct KpMemory {
  void* handle;
  uint64_t offset; /* bytes */
  KpDLDevice device;
} KpMemory;

/* A box of elements: `shape` in elements, strides in bytes, outermost first; the innermost dimension may be strided too.
 * No extent is 0; ndim is 1 to 64. Dimensions that are contiguous in both places have been merged. */
typedef struct KpStridedCopy {
  int32_t ndim;
  uint32_t element_bytes;
  const int64_t* shape;
  const int64_t* from_strides;
  const int64_t* to_strides;
} KpStridedCopy;

enum KpKernelArgKind {
  KP_ARG_VALUE = 0, /* `size` bytes at `data`, by value */
  KP_ARG_MEMORY = 1, /* `data` is a handle. With KP_DEVICE_ADDRESSES the kernel gets one parameter, handle + offset;
                        else two: the handle, and offset / size as uint64_t; `size` is an element's and divides offset */
  KP_ARG_LOCAL = 2, /* `size` bytes of work-group local memory, uninitialised. CUDA: no parameter, but dynamic shared
                       memory after the launch's `dynamic_shared` bytes; each argument begins at a multiple of 16 */
  KP_ARG_ERROR_WORD = 3, /* reserved for error reports of device code; backends refuse it */
  KP_ARG_TENSOR_MAP =
      4 /* CUDA, compute capability 9.0 and newer: a CUtensorMap, 128 bytes by value, that the backend encodes
                           from the KpTensorMap at `data`; `size` is sizeof(KpTensorMap) */
};
typedef struct KpKernelArg {
  uint32_t kind; /* KpKernelArgKind */
  uint32_t size;
  const void* data;
  uint64_t offset; /* bytes; MEMORY only */
} KpKernelArg;

/* A tensor and the block of it that an instruction of CUDA's tensor memory accelerator (TMA) copies. Dimensions are innermost
 * first. Numbers of elements and modes are those of cuTensorMapEncodeTiled: CUtensorMapDataType and the like. */
typedef struct KpTensorMap {
  void* handle;
  uint64_t offset; /* bytes */
  const char* tensor; /* its name, for errors; nullable */
  uint32_t rank; /* 1 to 5 */
  uint32_t element_type;
  uint32_t interleave;
  uint32_t swizzle;
  uint32_t l2_promotion;
  uint32_t fill; /* of elements outside of the tensor */
  int64_t extents[5]; /* elements */
  int64_t strides[4]; /* bytes, of dimensions 1 and on: dimension 0 is contiguous */
  uint32_t box[5]; /* elements */
  uint32_t steps[5]; /* between elements of the box; 1: all */
} KpTensorMap;

enum KpLaunchFlags {
  KP_LAUNCH_COOPERATIVE = 1 << 0 /* all blocks run at the same time, so that they may wait for each other */
};

typedef struct KpLaunch {
  uint32_t struct_size;
  uint32_t grid[3]; /* blocks (work-groups); if one is 0, the host launches nothing */
  uint32_t block[3]; /* threads (work items) per block; {0, 0, 0}: the device chooses, and grid counts threads; the last
                        block may have more threads on CUDA */
  uint32_t cluster[3]; /* blocks per cluster; 0 or 1: no clusters */
  uint32_t dynamic_shared; /* bytes */
  int32_t num_args;
  const KpKernelArg* args;
  uint32_t flags; /* KpLaunchFlags; the host refuses those that the backend doesn't have */
  uint32_t reserved; /* zero */
} KpLaunch;
#define KP_LAUNCH_SIZE_V1 KP_SIZE_THROUGH(KpLaunch, args)

typedef struct KpDeviceApi KpDeviceApi;

/* Every service in ABI order: X(minor, needs, name, parameters). `needs`: 0 if every backend has it; a flag
 * without which it may be NULL; or KP_DEVICE_OPTIONAL. Each returns 0, or -1 with an error raised through the host that opened the
 * backend. A KpAny result may be RAW_STR text that the backend owns, valid until the same thread's next call; the host copies it.
 * `stream` NULL is the device's default stream, and the only one without KP_DEVICE_STREAMS.
 *
 *  count           the number of devices; if 0, *reason is text that says why.
 *  get_attr        a KpDeviceAttrKind other than EXIST.
 *  get_property    the backend's own properties by name, and "arch", the architecture to build code for ("sm_90"); NONE for others.
 *  set_device      makes the device active for this thread. NULL: the host remembers it.
 *  get_device      the id of the active device of this thread.
 *  alloc           memory of `scope` ("" is scopes[0]; an unknown one is a ValueError that lists scopes), aligned to at least
 *                  64 bytes. 0 bytes give a handle that is not NULL and is freed like others. Out of memory is a MemoryError:
 *                  the host empties its pools and tries again. Any stream of the device may use the memory immediately.
 *  free            frees memory of any scope; queued work that uses it completes first.
 *  alloc_async     as alloc in the default scope, for use on `stream`.
 *  free_async      frees memory of alloc_async after the work that is queued on `stream` now.
 *  workspace_alloc, workspace_free  memory for intermediate values, copied only within the device. NULL: alloc and free are used.
 *  copy            host to device, device to host, within a device, and what can_copy allows; queued on `stream`, of the
 *                  backend's device (of from's, where both are its own). Host memory, pinned or not, may be reused on
 *                  return: a copy to the host returns when the data has arrived. Ranges do not overlap.
 *  can_copy        whether copy supports this pair: two ids of its own, or one of its own and another backend's.
 *  copy_strided    as copy. *done is 0 if it doesn't support this copy; then nothing has happened.
 *  copy_async      as copy, but host memory must stay unchanged until *event is reached, which the caller frees.
 *  fill            sets bytes of a device's memory to `value` (0 to 255), queued on the stream.
 *  stream_new      a stream that does not wait for the default stream. priority: 0, or lower for more urgent.
 *  stream_free     allowed while work is queued, which completes.
 *  stream_sync     returns when all queued work is done; returns the errors of that work.
 *  stream_query    *done is 1 if no work is queued.
 *  stream_wait_stream  later work on `waiting` waits for the work queued on `other` now; the host does not wait.
 *  event_new       `timing`: event_elapsed will be called with it.
 *  event_record    moves the event to the current end of the stream.
 *  event_wait      later work on the stream waits for the event. An event that was never recorded counts as reached.
 *  event_sync, event_query  the host waits for the event; tests it.
 *  event_elapsed   milliseconds between two reached events with timing.
 *  event_free      allowed before the event is reached.
 *  load_code       `image` in `format` ("cubin", "ptx", "cl", "spv", ...), compiled with `options`; an error contains the
 *                  compiler's log. The image may be freed after the call.
 *  unload_code     unloads code and all its kernels.
 *  get_kernel      a kernel, valid until its code is unloaded. An unknown name is an AttributeError that lists the names, if known.
 *  launch          checks the limits of the device, then queues the kernel.
 *  match_target    how well code for `target` ("cuda -arch=sm_90") runs on the device: *rank is -1 if not at all, else higher is more
 *                  specific; *reason says why. NULL: the kind is one of target_kinds and -arch, if given, equals "arch".
 *  trim            returns memory that the backend keeps in reserve to the system.
 */
#define KP_DEVICE_SERVICES(X)                                                                                          \
  X(0, 0, count, (const KpDeviceApi* api, int32_t* count, KpAny* reason))                                              \
  X(0, 0, get_attr, (const KpDeviceApi* api, KpDLDevice device, int32_t kind, KpAny* out))                             \
  X(0, KP_DEVICE_OPTIONAL, get_property, (const KpDeviceApi* api, KpDLDevice device, KpBytes name, KpAny* out))        \
  X(0, KP_DEVICE_OPTIONAL, set_device, (const KpDeviceApi* api, KpDLDevice device))                                    \
  X(0, KP_DEVICE_OPTIONAL, get_device, (const KpDeviceApi* api, int32_t* id))                                          \
  X(0, 0, alloc,                                                                                                       \
    (const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t alignment, KpBytes scope, void** handle))     \
  X(0, 0, free, (const KpDeviceApi* api, KpDLDevice device, void* handle))                                             \
  X(0, KP_DEVICE_ASYNC_ALLOC, alloc_async,                                                                             \
    (const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, uint64_t alignment, void* stream, void** handle))      \
  X(0, KP_DEVICE_ASYNC_ALLOC, free_async, (const KpDeviceApi* api, KpDLDevice device, void* handle, void* stream))     \
  X(0, KP_DEVICE_OPTIONAL, workspace_alloc,                                                                            \
    (const KpDeviceApi* api, KpDLDevice device, uint64_t bytes, void* stream, void** handle))                          \
  X(0, KP_DEVICE_OPTIONAL, workspace_free, (const KpDeviceApi* api, KpDLDevice device, void* handle, void* stream))    \
  X(0, 0, copy, (const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream))      \
  X(0, KP_DEVICE_PEER_COPY, can_copy, (const KpDeviceApi* api, KpDLDevice from, KpDLDevice to, int32_t* can))          \
  X(0, KP_DEVICE_STRIDED_COPY, copy_strided,                                                                           \
    (const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, const KpStridedCopy* box, void* stream,         \
     int32_t* done))                                                                                                   \
  X(0, KP_DEVICE_ASYNC_COPY, copy_async,                                                                               \
    (const KpDeviceApi* api, const KpMemory* from, const KpMemory* to, uint64_t bytes, void* stream, void** event))    \
  X(0, 0, fill, (const KpDeviceApi* api, const KpMemory* to, uint64_t bytes, int32_t value, void* stream))             \
  X(0, KP_DEVICE_STREAMS, stream_new, (const KpDeviceApi* api, KpDLDevice device, int32_t priority, void** stream))    \
  X(0, KP_DEVICE_STREAMS, stream_free, (const KpDeviceApi* api, KpDLDevice device, void* stream))                      \
  X(0, 0, stream_sync, (const KpDeviceApi* api, KpDLDevice device, void* stream))                                      \
  X(0, KP_DEVICE_STREAMS, stream_query, (const KpDeviceApi* api, KpDLDevice device, void* stream, int32_t* done))      \
  X(0, KP_DEVICE_STREAMS, stream_wait_stream, (const KpDeviceApi* api, KpDLDevice device, void* waiting, void* other)) \
  X(0, KP_DEVICE_EVENTS, event_new, (const KpDeviceApi* api, KpDLDevice device, int32_t timing, void** event))         \
  X(0, KP_DEVICE_EVENTS, event_record, (const KpDeviceApi* api, KpDLDevice device, void* event, void* stream))         \
  X(0, KP_DEVICE_EVENTS, event_wait, (const KpDeviceApi* api, KpDLDevice device, void* event, void* stream))           \
  X(0, KP_DEVICE_EVENTS, event_sync, (const KpDeviceApi* api, KpDLDevice device, void* event))                         \
  X(0, KP_DEVICE_EVENTS, event_query, (const KpDeviceApi* api, KpDLDevice device, void* event, int32_t* done))         \
  X(0, KP_DEVICE_EVENTS, event_elapsed,                                                                                \
    (const KpDeviceApi* api, KpDLDevice device, void* begin, void* end, double* milliseconds))                         \
  X(0, KP_DEVICE_EVENTS, event_free, (const KpDeviceApi* api, KpDLDevice device, void* event))                         \
  X(0, KP_DEVICE_CODE, load_code,                                                                                      \
    (const KpDeviceApi* api, KpDLDevice device, KpBytes image, KpBytes format, KpBytes options, void** code))          \
  X(0, KP_DEVICE_CODE, unload_code, (const KpDeviceApi* api, KpDLDevice device, void* code))                           \
  X(0, KP_DEVICE_CODE, get_kernel,                                                                                     \
    (const KpDeviceApi* api, KpDLDevice device, void* code, KpBytes name, void** kernel))                              \
  X(0, KP_DEVICE_CODE, launch,                                                                                         \
    (const KpDeviceApi* api, KpDLDevice device, void* kernel, const KpLaunch* launch, void* stream))                   \
  X(0, KP_DEVICE_OPTIONAL, match_target,                                                                               \
    (const KpDeviceApi* api, KpDLDevice device, KpBytes target, int32_t* rank, KpAny* reason))                         \
  X(0, KP_DEVICE_OPTIONAL, trim, (const KpDeviceApi* api, KpDLDevice device))

#define KP_DEVICE_DECLARE_SERVICE_(minor, needs, name, parameters) int(*KP_SERVICE_FIELD_(minor, name)) parameters;
/* Lives until the process ends, and does not change. Use designated initialisers, so that omitted services are NULL. */
struct KpDeviceApi {
  uint32_t struct_size;
  uint32_t abi_version; /* KP_DEVICE_ABI_VERSION */
  uint32_t flags; /* KpDeviceFlags */
  uint32_t max_alignment; /* the largest that alloc honours, a power of two, at least 64 */
  const char* const* scopes; /* memory scopes, NULL-terminated; the first is the default, by convention "global" */
  const char* const* properties; /* names that get_property knows, NULL-terminated; nullable */
  void* context; /* for the backend's use */
  KP_DEVICE_SERVICES(KP_DEVICE_DECLARE_SERVICE_)
};
#undef KP_DEVICE_DECLARE_SERVICE_
/* A service of a table; NULL if the table's writer did not know the service. */
#define KP_DEVICE_SERVICE_OF(api, minor, name) KP_FIELD_OR(KpDeviceApi, api, KP_SERVICE_FIELD_(minor, name), NULL)
#define KP_DEVICE_API_SIZE_V1 KP_SIZE_THROUGH(KpDeviceApi, trim)

/* Describes a backend. Lives until the process ends. */
typedef struct KpBackend {
  uint32_t struct_size;
  uint32_t abi_version; /* KP_DEVICE_ABI_VERSION */
  const char* name; /* of the device type: [a-z][a-z0-9_]*; "cuda" */
  int32_t device_type; /* KpDeviceType; 0: the host assigns the name a number above 0x1000, valid in this process */
  uint32_t min_host_abi; /* the oldest KpHost that it runs with, as in KpModule; 0: any */
  const char* const* target_kinds; /* of code that runs on the device, best first, NULL-terminated; nullable */
  /* Opens the driver. Returns 0 with *out set; 0 with *out NULL and *reason text if there is no driver; or -1 with an error
   * raised. `device_type` is the one above or the assigned one; `host` lives until the process ends. Called once, by one thread. */
  int (*open)(const KpHost* host, int32_t device_type, const KpDeviceApi** out, KpAny* reason);
  /* Nullable. They become the global functions "target.build.<target_kinds[0]>" (an IR module, a target; objects of the types
   * kernpack.ir.IRModule and kernpack.Target, whose body is that of a KpStrObject: their text) and
   * "module.load.<target_kinds[0]>" (the path of built code). Each returns a `const KpModule*` (OPAQUE_PTR) that lives until the
   * process ends, or the path (STR) of a shared object to load. */
  KpSafeCall build;
  KpSafeCall load;
  void* self; /* argument of build and load; NULL: they get the host, a `const KpHost*`, to raise errors with */
  const void* spare[4]; /* zero */
} KpBackend;
#define KP_BACKEND_SIZE_V1 KP_SIZE_THROUGH(KpBackend, spare)

/* The extension KP_DEVICES_EXTENSION, version 1 (KpHost.get_extension), for modules and the SDK. Each field is the function of
 * kernpack/host/device.h with the same name after kp_. */
typedef struct KpDevices {
  uint32_t struct_size;
  uint32_t reserved; /* zero */
  /* The host's table of a device type, opened; valid until the process ends. -1 with a RuntimeError that says why there is none. */
  int (*device_api)(int32_t device_type, const KpDeviceApi** out);
  int (*device_count)(int32_t device_type, int32_t* out, KpAny* reason);
  int (*device_get_attr)(KpDLDevice device, int32_t kind, KpAny* out);
  int (*device_get_property)(KpDLDevice device, KpBytes name, KpAny* out);
  int (*backend_register)(const KpBackend* backend);
  void* (*stream_get)(KpDLDevice device);
  int (*stream_set)(KpDLDevice device, void* stream, void** previous);
  int (*workspace_alloc)(KpDLDevice device, uint64_t bytes, void* stream, void** out);
  int (*workspace_free)(KpDLDevice device, void* handle, void* stream);
  int (*tensor_alloc)(const KpDLTensor* prototype, KpBytes scope, KpAny* out);
  int (*copy)(const KpDLTensor* from, const KpDLTensor* to);
} KpDevices;
#define KP_DEVICES_SIZE_V1 KP_SIZE_THROUGH(KpDevices, copy)
#define KP_DEVICES_EXTENSION "kernpack.devices"

typedef const KpBackend* (*KpBackendQuery)(int32_t index);
#define KP_BACKEND_QUERY_PREFIX "kp_backend_v" /* and this header's major: a host names an unsupported major */
#define KP_BACKEND_QUERY_SYMBOL "kp_backend_v1"

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_DEVICE_API_H_ */
