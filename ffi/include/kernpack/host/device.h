/* Devices, for embedders and language bindings. C99; the conventions of host.h.
 *
 * kp_device_api() returns a backend's table. It is the host's own and complete: no service is NULL, and those that the backend
 * lacks are emulated or raise an error. It checks device ids, and in a forked child it refuses to enter a driver that the
 * parent opened.
 */
#ifndef KERNPACK_HOST_DEVICE_H_
#define KERNPACK_HOST_DEVICE_H_

#include <kernpack/device_api.h>
#include <kernpack/host/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- backends (ffi/src/devices) ---- */
/* Registers a backend without opening its driver. `backend` must live until the process ends. ValueError if it is invalid, or
 * another backend has its name or device type. Registering the same backend again has no effect. */
KP_HOST_API int kp_backend_register(const KpBackend* backend);
/* Registers all backends of a plugin. OSError: the file cannot be loaded; ValueError: it isn't a plugin, or as above. */
KP_HOST_API int kp_backend_load(const char* path);
/* ARRAY of STR: device types that have a backend, in order of registration. Looks for plugins, opens no driver. */
KP_HOST_API int kp_backend_names(KpAny* out);
/* STR: a JSON list, one object per backend: name, path (of the plugin; null: built in), target_kinds, state ("closed", "open",
 * "unavailable"), devices (null if closed), reason (null, or why there is none). A plugin that could not be loaded has
 * path, state ("failed") and reason. Opens no driver unless `open` is not 0. */
KP_HOST_API int kp_backend_info(int32_t open, KpAny* out);

/* ---- devices ---- */
/* The number of devices of a type; opens the driver. 0 isn't an error: *reason (nullable) is then text that says why;
 * else *reason is NONE. */
KP_HOST_API int kp_device_count(int32_t device_type, int32_t* out, KpAny* reason);
/* The table of a device type, borrowed; opens the driver. RuntimeError with the reason if there are no devices. */
KP_HOST_API int kp_device_api(int32_t device_type, const KpDeviceApi** out);
/* As get_attr of the table, but EXIST is false, not an error, if there is no such device, backend or driver. */
KP_HOST_API int kp_device_get_attr(KpDLDevice device, int32_t kind, KpAny* out);
/* As get_property of the table; RuntimeError with the reason if the device type has no devices. */
KP_HOST_API int kp_device_get_property(KpDLDevice device, KpBytes name, KpAny* out);
/* Frees what the host keeps for a device: stored values and workspaces of the device and its streams, pooled memory, and what
 * the backend itself keeps in reserve. Tensors and streams stay. No work that uses the workspaces may be running. */
KP_HOST_API int kp_device_reset(KpDLDevice device);

/* ---- streams ---- */
/* The stream on which this thread queues work for the device: that of the call in progress, else the one that was set; NULL is
 * the default stream. Borrowed. */
KP_HOST_API void* kp_stream_get(KpDLDevice device);
/* Sets that stream. *previous (nullable) is the stream before, which the same thread should restore. */
KP_HOST_API int kp_stream_set(KpDLDevice device, void* stream, void** previous);

/* ---- memory ---- */
/* A TENSOR with the prototype's shape, dtype and device, compact, not zeroed, in memory of `scope` ({NULL, 0}: the default), at
 * least 64-byte aligned. The last reference may be released on any thread; in a forked
 * child, or if the driver fails, the memory is leaked. */
KP_HOST_API int kp_tensor_alloc(const KpDLTensor* prototype, KpBytes scope, KpAny* out);
/* Copies elements between two tensors of the same shape and dtype, on any devices, with any strides. Queued on the device's
 * current stream; between two devices, later work on the current streams of both waits. On return, host memory may be reused,
 * and a copy to the host has arrived. */
KP_HOST_API int kp_copy(const KpDLTensor* from, const KpDLTensor* to);
/* Sets all bytes of a compact tensor, queued on the device's current stream. */
KP_HOST_API int kp_fill(const KpDLTensor* to, int32_t value);

/* ---- workspaces: temporary memory, pooled by device and stream (ffi/src/devices/pool) ---- */
/* At least `bytes` (0 is allowed), 64-byte aligned, for work on `stream`. Once freed, later work on that stream may reuse it
 * without waiting. Freeing in reverse order is fastest. Any thread may free. */
KP_HOST_API int kp_workspace_alloc(KpDLDevice device, uint64_t bytes, void* stream, void** out);
/* Frees a workspace of that device and stream. ValueError: `handle` isn't in use. */
KP_HOST_API int kp_workspace_free(KpDLDevice device, void* handle, void* stream);
/* A workspace as a TENSOR u8[bytes], for the current stream; the memory returns to the pool with its last reference. */
KP_HOST_API int kp_workspace_tensor(KpDLDevice device, uint64_t bytes, KpAny* out);
/* Returns unused pooled memory to the backend; *out_bytes (nullable) is its size. */
KP_HOST_API int kp_workspace_trim(KpDLDevice device, uint64_t* out_bytes);
/* STR: a JSON list, one object per device and stream: device, stream, pools, held, in_use, high_water (bytes), allocations, reused. */
KP_HOST_API int kp_workspace_stats(KpAny* out);

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_DEVICE_H_ */
