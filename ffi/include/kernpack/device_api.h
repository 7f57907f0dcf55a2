/* What the author of a device backend fills in. Plain C99, beside abi.h and by its rules of evolution: services newer than
 * 1.0 have fields with names of their own (name_of_1_1), and modules get them from kernpack/device_service.h.
 *
 * A backend is one KpBackend. Compiled into a program it is registered with kp_backend_register()
 * (kernpack/host/device.h); as a plugin, a shared object of its own that links to nothing of Kernpack's exports
 *
 *     const KpBackend* kp_backend_v1(int32_t index);   (index 0, 1, ...; NULL behind the last)
 *
 * and is found through kp_backend_load(), KERNPACK_BACKENDS or the Python entry point group `kernpack.backends`.
 *
 * Registering is cheap and touches no driver: open() does, when the first device is asked for. A machine without the
 * driver or without a device isn't an error: open() or count() gives the reason, which kernpack.info() prints.
 *
 * Whoever uses a backend gets it through the host, whose table forwards to the backend's. So a backend may rely on this:
 *   - open() returned 0 with a table, once, and count() before anything else;
 *   - a service whose first argument after `api` is a device gets one of the backend's type with 0 <= id < count; the
 *     devices of a copy are such, the CPU, or what can_copy allowed;
 *   - out-pointers are not NULL, KpAny results are NONE on entry, alignments are powers of two, sizes fit int64_t;
 *   - after fork() the child never enters the backend that its parent opened, unless it says KP_DEVICE_FORK_SAFE;
 *   - at process exit nothing is called.
 * Everything else it checks itself. Any thread may call anything at any time; services leave the thread's active device
 * as they found it (set_device excepted).
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

/* What a backend can do. A service that needs a flag may be NULL where the flag is not set. */
enum KpDeviceFlags {
  KP_DEVICE_ADDRESSES = 1 << 0, /* handles are addresses: handle + byte offset may be formed, and crosses DLPack */
  KP_DEVICE_HOST_ACCESS = 1 << 1, /* the CPU reads and writes memory of the default scope at those addresses */
  KP_DEVICE_STREAMS = 1 << 2, /* more than one queue of commands */
  KP_DEVICE_EVENTS = 1 << 3, /* points in a stream that the host and other streams can wait for */
  KP_DEVICE_STRIDED_COPY = 1 << 4, /* copies rows with a stride between them */
  KP_DEVICE_ASYNC_COPY = 1 << 5, /* copies that return before the host memory is free for reuse */
  KP_DEVICE_CODE = 1 << 6, /* runs device code: load_code, get_kernel, launch */
  KP_DEVICE_PEER_COPY = 1 << 7, /* copies directly where can_copy says so */
  KP_DEVICE_ASYNC_ALLOC = 1 << 8, /* allocates and frees in the order of a stream */
  KP_DEVICE_FORK_SAFE = 1 << 9 /* a forked child may go on using what its parent opened */
};
#define KP_DEVICE_OPTIONAL (1u << 31) /* of a service: NULL is fine, the host does without */

/* What get_attr gives: INT, or text where said so; NONE where the device has no such thing, never a made-up value. */
enum KpDeviceAttrKind {
  KP_ATTR_EXIST = 0, /* BOOL; answered by the host, with no driver and for any id */
  KP_ATTR_MAX_THREADS_PER_BLOCK = 1, /* work items of a work-group */
  KP_ATTR_WARP_SIZE = 2, /* threads that run in lock step; NONE where that is not a fact */
  KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK = 3, /* bytes */
  KP_ATTR_COMPUTE_VERSION = 4, /* text, "9.0" */
  KP_ATTR_DEVICE_NAME = 5, /* text */
  KP_ATTR_MAX_CLOCK_RATE = 6, /* kHz */
  KP_ATTR_MULTI_PROCESSOR_COUNT = 7,
  KP_ATTR_MAX_THREAD_DIMENSIONS = 8, /* text, "[x, y, z]" */
  KP_ATTR_MAX_REGISTERS_PER_BLOCK = 9, /* of 32 bits */
  KP_ATTR_GCN_ARCH = 10, /* text */
  KP_ATTR_API_VERSION = 11, /* INT as the interface counts: 12040 is CUDA 12.4, 300 OpenCL 3.0 */
  KP_ATTR_DRIVER_VERSION = 12, /* text */
  KP_ATTR_L2_CACHE_SIZE_BYTES = 13,
  KP_ATTR_TOTAL_GLOBAL_MEMORY = 14, /* bytes */
  KP_ATTR_AVAILABLE_GLOBAL_MEMORY = 15, /* bytes, now */
  KP_ATTR_IMAGE_PITCH_ALIGNMENT = 16 /* bytes */
};
#define KP_DEVICE_ATTR_COUNT 17

/* A place in memory. On the CPU `handle` is an address; else what alloc gave. */
typedef struct KpMemory {
  void* handle;
  uint64_t offset; /* bytes */
  KpDLDevice device;
} KpMemory;

/* A box of elements: `shape` in elements, strides in bytes, outermost first; the innermost dimension may be strided too.
 * No extent is 0; ndim is 1 to 64. Dimensions that run on in both places have been merged. */
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
                        without, two: the handle, and offset / size as uint64_t; `size`, of an element, divides offset */
  KP_ARG_LOCAL =
      2, /* `size` bytes of work-group local memory, uninitialised. No parameter on devices whose kernels find
                       it otherwise: CUDA's is dynamic shared memory, behind `dynamic_shared` bytes of the launch, each
                       argument's at the next multiple of 16 */
  KP_ARG_ERROR_WORD = 3 /* reserved: 8 zero bytes where device code will say that it failed; backends refuse it */
};
typedef struct KpKernelArg {
  uint32_t kind; /* KpKernelArgKind */
  uint32_t size;
  const void* data;
  uint64_t offset; /* bytes; MEMORY only */
} KpKernelArg;

typedef struct KpLaunch {
  uint32_t struct_size;
  uint32_t grid[3]; /* blocks (work-groups); the host launches nothing where one is 0 */
  uint32_t block[3]; /* threads (work items) of a block; {0, 0, 0}: as the device likes, and grid counts threads;
                        CUDA's last block may go beyond them */
  uint32_t cluster[3]; /* blocks of a cluster; 0 or 1 where there are none */
  uint32_t dynamic_shared; /* bytes */
  int32_t num_args;
  const KpKernelArg* args;
} KpLaunch;
#define KP_LAUNCH_SIZE_V1 KP_SIZE_THROUGH(KpLaunch, args)

typedef struct KpDeviceApi KpDeviceApi;

/* Every service in ABI order: X(minor, needs, name, parameters). `needs`: 0, every backend has it; a flag, and it may be
 * NULL without; or KP_DEVICE_OPTIONAL. Each returns 0, or -1 with an error raised through the host that opened the backend.
 * A KpAny result may be RAW_STR text of the backend's, valid until the same thread's next call; the host copies it.
 * `stream` NULL is the device's default stream, and the only one without KP_DEVICE_STREAMS.
 *
 *  count           devices there are; with 0, *reason is text that says why.
 *  get_attr        a KpDeviceAttrKind other than EXIST.
 *  get_property    facts of the backend's own by name, and "arch", what code is built for ("sm_90"); NONE for others.
 *  set_device      makes the device active for this thread. NULL: the host keeps that record.
 *  get_device      the id of the active device of this thread.
 *  alloc           memory of `scope` ("" is scopes[0]; an unknown one is a ValueError that lists scopes), aligned to at least
 *                  64 bytes. 0 bytes give a handle that is not NULL and is freed like others. Out of memory is a MemoryError:
 *                  the host empties its pools and asks again. Any stream of the device may use it at once.
 *  free            returns memory, of any scope; whatever is queued and uses it completes first.
 *  alloc_async     as alloc in the default scope, for use on `stream`.
 *  free_async      returns memory of alloc_async once what is queued on `stream` now is done.
 *  workspace_alloc, workspace_free  memory for intermediate values, copied only within the device. NULL: alloc, free.
 *  copy            host to device, device to host, within a device, and what can_copy allows; queued on `stream`, of the
 *                  backend's device (of from's, where both are its own). Host memory, pinned or not, is free for reuse on
 *                  return: to host, it returns when the data has landed. Ranges do not overlap.
 *  can_copy        whether copy takes this pair: two ids of its own, or one of its own and another backend's.
 *  copy_strided    as copy; *done is 0 when it cannot do this one, and nothing happened.
 *  copy_async      as copy, but host memory must stay as it is until *event, the caller's to free, is reached.
 *  fill            sets bytes of a device's memory to `value` (0 to 255), queued on the stream.
 *  stream_new      a stream that does not wait for the default stream. priority: 0, or lower for more urgent.
 *  stream_free     may come while work is queued, which completes.
 *  stream_sync     returns when all that was queued is done; errors of that work come out here.
 *  stream_query    *done is 1 when nothing is queued.
 *  stream_wait_stream  later work on `waiting` waits for what is queued on `other` now; the host does not wait.
 *  event_new       `timing`: event_elapsed will be asked.
 *  event_record    moves the event to the present end of the stream.
 *  event_wait      later work on the stream waits for the event. One that was never recorded is reached.
 *  event_sync, event_query  the host waits; asks.
 *  event_elapsed   milliseconds between two reached events with timing.
 *  event_free      also before it is reached.
 *  load_code       `image` in `format` ("cubin", "ptx", "cl", "spv", ...), compiled with `options`; a refusal carries the
 *                  compiler's log. The image may go after the call.
 *  unload_code     with all its kernels.
 *  get_kernel      valid as long as its code. An unknown name is an AttributeError that lists the names where it can.
 *  launch          queues the kernel; limits of the device are checked before.
 *  match_target    how well code for `target` ("cuda -arch=sm_90") runs there: *rank -1 not at all, else higher is more
 *                  specific; *reason says why. NULL: the kind is one of target_kinds and -arch, if given, equals "arch".
 *  trim            gives memory that the backend keeps back to the system.
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
/* Lives as long as the process, and does not change. Initialise it with designators: what is left out is NULL. */
struct KpDeviceApi {
  uint32_t struct_size;
  uint32_t abi_version; /* KP_DEVICE_ABI_VERSION */
  uint32_t flags; /* KpDeviceFlags */
  uint32_t max_alignment; /* the largest that alloc honours, a power of two, at least 64 */
  const char* const* scopes; /* of memory, NULL-terminated; the first is the default, "global" by custom */
  const char* const* properties; /* names that get_property knows, NULL-terminated; nullable */
  void* context; /* the backend's own */
  KP_DEVICE_SERVICES(KP_DEVICE_DECLARE_SERVICE_)
};
#undef KP_DEVICE_DECLARE_SERVICE_
/* A service of a table whose writer may know fewer: NULL where it ends before it. */
#define KP_DEVICE_SERVICE_OF(api, minor, name) KP_FIELD_OR(KpDeviceApi, api, KP_SERVICE_FIELD_(minor, name), NULL)
#define KP_DEVICE_API_SIZE_V1 KP_SIZE_THROUGH(KpDeviceApi, trim)

/* One struct registers a backend. Lives as long as the process. */
typedef struct KpBackend {
  uint32_t struct_size;
  uint32_t abi_version; /* KP_DEVICE_ABI_VERSION */
  const char* name; /* of the device type: [a-z][a-z0-9_]*; "cuda" */
  int32_t device_type; /* KpDeviceType; 0: the host allots one above 0x1000 that belongs to the name in this process */
  uint32_t min_host_abi; /* as KpModule's: the oldest KpHost that it can live with; 0: any */
  const char* const* target_kinds; /* of code that runs on the device, best first, NULL-terminated; nullable */
  /* Opens the driver. 0 with *out set; 0 with *out NULL and *reason text where there is no such driver; -1 with an error
   * raised. `device_type` is the one above or the allotted one, `host` lives for ever. Called once, by one thread. */
  int (*open)(const KpHost* host, int32_t device_type, const KpDeviceApi** out, KpAny* reason);
  /* Nullable; become the global functions "target.build.<target_kinds[0]>" (an IR module, a target; objects of the types
   * kernpack.ir.IRModule and kernpack.Target, whose body is that of a KpStrObject: their text) and
   * "module.load.<target_kinds[0]>" (the path of code that was built). Either gives a `const KpModule*` (OPAQUE_PTR) that lives as
   * long as the process, or the path (STR) of a shared object to load. */
  KpSafeCall build;
  KpSafeCall load;
  void* self; /* of build and load; NULL: they get the host, a `const KpHost*`, to raise errors in */
  const void* spare[4]; /* zero */
} KpBackend;
#define KP_BACKEND_SIZE_V1 KP_SIZE_THROUGH(KpBackend, spare)

/* What modules and the SDK get as the extension KP_DEVICES_EXTENSION, version 1 (KpHost.get_extension). Each is the function of
 * kernpack/host/device.h with its name behind kp_. */
typedef struct KpDevices {
  uint32_t struct_size;
  uint32_t reserved; /* zero */
  /* The host's table of a device type, opened; valid for ever. -1 with a RuntimeError that says why there is none. */
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
#define KP_BACKEND_QUERY_PREFIX "kp_backend_v" /* and the major of this header: a host refuses the others by name */
#define KP_BACKEND_QUERY_SYMBOL "kp_backend_v1"

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_DEVICE_API_H_ */
