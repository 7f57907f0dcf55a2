/* Devices, for embedders and language bindings. C99; the conventions of host.h.
 *
 * A backend's table comes from kp_device_api(). It is the host's own: complete (no NULL, whatever the backend leaves out is
 * made from what it has, or refuses with an error that says so), it checks device ids, and in a forked child it refuses to
 * enter a driver that the parent opened.
 */
#ifndef KERNPACK_HOST_DEVICE_H_
#define KERNPACK_HOST_DEVICE_H_

#include <kernpack/device_api.h>
#include <kernpack/host/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- backends (ffi/src/device) ---- */
/* Makes a backend known; opens no driver. `backend` lives for ever. ValueError: what is wrong with it, or another backend has
 * its name or device type. Registering the same again does nothing. */
KP_HOST_API int kp_backend_register(const KpBackend* backend);
/* Registers all backends of a plugin. OSError: the file cannot be loaded; ValueError: it isn't a plugin, or as above. */
KP_HOST_API int kp_backend_load(const char* path);
/* ARRAY of STR: device types that have a backend, in order of registration. Looks for plugins, opens no driver. */
KP_HOST_API int kp_backend_names(KpAny* out);
/* STR: a JSON list, one object a backend: name, path (of the plugin; null: built in), target_kinds, state ("closed", "open",
 * "unavailable"), devices (null when closed), reason (null, or why there is none); and of plugins that could not be loaded:
 * path, state ("failed"), reason. Opens no driver unless `open` is not 0. */
KP_HOST_API int kp_backend_info(int32_t open, KpAny* out);

/* ---- devices ---- */
/* How many devices of a type there are; opens the driver. None isn't an error: *out is 0 and *reason (nullable) text that says
 * why; else *reason is NONE. */
KP_HOST_API int kp_device_count(int32_t device_type, int32_t* out, KpAny* reason);
/* The table of a device type that has devices; opens the driver. RuntimeError with the reason when there are none. */
KP_HOST_API int kp_device_api(int32_t device_type, const KpDeviceApi** out);
/* As get_attr of the table, but EXIST is FALSE, not an error, where there is no device, backend or driver. */
KP_HOST_API int kp_device_get_attr(KpDLDevice device, int32_t kind, KpAny* out);
/* As get_property of the table; RuntimeError with the reason where the device type has no devices. */
KP_HOST_API int kp_device_get_property(KpDLDevice device, KpBytes name, KpAny* out);
/* Gives back what the host keeps for a device: values stored and workspaces kept under its name or its streams', pooled memory,
 * and what the backend itself keeps. Tensors and streams stay. Nothing that uses the workspaces may be running. */
KP_HOST_API int kp_device_reset(KpDLDevice device);

/* ---- streams ---- */
/* The stream that this thread queues work for the device on: that of the call in progress, else what was set; NULL: the
 * default. The stream is borrowed. */
KP_HOST_API void* kp_stream_get(KpDLDevice device);
/* Sets that stream. *previous (nullable) is what was there, to be set again by the same thread. */
KP_HOST_API int kp_stream_set(KpDLDevice device, void* stream, void** previous);

/* ---- memory ---- */
/* A TENSOR with the prototype's shape, dtype and device, compact, not zeroed, in memory of `scope` ({NULL, 0}: the default), at
 * least 64-byte aligned. It keeps no backend object alive and goes when its last reference does, on any thread; in a forked
 * child, or while the driver refuses, the memory is leaked. */
KP_HOST_API int kp_tensor_alloc(const KpDLTensor* prototype, KpBytes scope, KpAny* out);
/* Copies elements between two tensors of one shape and dtype: any devices, any strides, elements or none. Queued on the current
 * stream of the device (of both, where there are two: later work there waits). Host memory is free for reuse on return, and
 * has its data. */
KP_HOST_API int kp_copy(const KpDLTensor* from, const KpDLTensor* to);
/* Sets all bytes of a compact tensor, queued on the device's current stream. */
KP_HOST_API int kp_fill(const KpDLTensor* to, int32_t value);

/* ---- workspaces: memory for a moment, pooled by device and stream (ffi/src/device/pool) ---- */
/* At least `bytes` (0 is fine), 64-byte aligned, for work on `stream`, until it is freed; reused by later work on that stream
 * without waiting. Frees that come in reverse order are the fastest; any thread may free. */
KP_HOST_API int kp_workspace_alloc(KpDLDevice device, uint64_t bytes, void* stream, void** out);
/* With the device and the stream that it was allocated for. ValueError: `handle` isn't in use. */
KP_HOST_API int kp_workspace_free(KpDLDevice device, void* handle, void* stream);
/* The same as a TENSOR u8[bytes] for the current stream, which goes back to its pool with its last reference. */
KP_HOST_API int kp_workspace_tensor(KpDLDevice device, uint64_t bytes, KpAny* out);
/* Gives the pooled memory that is not in use back to the backend; *out_bytes (nullable) is how much. */
KP_HOST_API int kp_workspace_trim(KpDLDevice device, uint64_t* out_bytes);
/* STR: a JSON list, one object a device and stream: device, stream, pools, held, in_use, high_water (bytes), allocations, reused. */
KP_HOST_API int kp_workspace_stats(KpAny* out);

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_DEVICE_H_ */
