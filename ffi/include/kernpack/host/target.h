/* The host's knowledge of targets, for the SDK and for backends: the extension "kernpack.target", version 1, of every KpHost
 * that libkernpack made. It is a table, so that an SDK inside another binary (the Python extension of kernpack-compiler)
 * uses the one host of the process without linking to it. C99; the conventions of host.h.
 */
#ifndef KERNPACK_HOST_TARGET_H_
#define KERNPACK_HOST_TARGET_H_

#include <kernpack/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Later minors append fields. */
typedef struct KpTargetApi {
  uint32_t struct_size;
  int (*device_from_name)(KpBytes name, KpDLDevice* out); /* kp_device_from_name */
  const char* (*device_type_name)(int32_t device_type); /* kp_device_type_name */
  /* A fact of a device: a KpDeviceAttrKind by its name in lower case ("warp_size"), a property ("arch"), and of the CPU also
   * "mcpu", "mattr" ("+aes,+sha"), "mtriple". NONE if the device has no such fact. Opens the driver. */
  int (*device_fact)(KpDLDevice device, KpBytes name, KpAny* out);
} KpTargetApi;
#define KP_TARGET_API_SIZE_V1 KP_SIZE_THROUGH(KpTargetApi, device_fact)

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_TARGET_H_ */
