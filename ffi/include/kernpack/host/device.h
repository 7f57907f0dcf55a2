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
/* Registers all backends of a plugin. OSError: the file cannot be loaded; ValueError: it is no plugin, or as above. */
KP_HOST_API int kp_backend_load(const char* path);
/* ARRAY of STR: device types that have a backend, in order of registration. Looks for plugins, opens no driver. */
KP_HOST_API int kp_backend_names(KpAny* out);
/* STR: a JSON list, one object a backend: name, path (of the plugin; null: built in), target_kinds, state ("closed", "open",
 * "unavailable"), devices (null when closed), reason (null, or why there is none); and of plugins that could not be loaded:
 * path, state ("failed"), reason. Opens no driver unless `open` is not 0. */
KP_HOST_API int kp_backend_info(int32_t open, KpAny* out);

/* ---- devices ---- */
/* How many devices of a type there are; opens the driver. None is no error: *out is 0 and *reason (nullable) text that says
 * why; else *reason is NONE. */
KP_HOST_API int kp_device_count(int32_t device_type, int32_t* out, KpAny* reason);
/* The table of a device type that has devices; opens the driver. RuntimeError with the reason when there are none. */
KP_HOST_API int kp_device_api(int32_t device_type, const KpDeviceApi** out);
/* As get_attr and get_property of the table, but EXIST is FALSE, not an error, where there is no device, backend or driver. */
KP_HOST_API int kp_device_get_attr(KpDLDevice device, int32_t kind, KpAny* out);
KP_HOST_API int kp_device_get_property(KpDLDevice device, KpBytes name, KpAny* out);

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_DEVICE_H_ */
