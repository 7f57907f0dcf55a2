/* What the host knows about targets, for the SDK and for backends: the extension "kernpack.target", version 1, of every KpHost
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
  /* Whether code built for target `code` runs on the machine that target `machine` describes. Both in command-line form. *rank is
   * -1 if it doesn't, else above 0, and higher is more specific. *reason: STR, a fragment of a sentence that says why. */
  int (*match)(KpBytes code, KpBytes machine, int32_t* rank, KpAny* reason);
  /* The meaning of a CPU target's options: *out is a STR of the architecture ("x86_64"; "?" if unknown or not named) and the
   * features, implied ones included, separated by spaces. `attributes` is "+avx2,-fma", "" for none. ValueError: a processor or
   * feature that the architecture does not have, with the nearest name that it has. */
  int (*cpu_features)(KpBytes triple, KpBytes cpu, KpBytes attributes, KpAny* out);
  /* STR: an architecture's processor models (`models` not 0) or features, separated by spaces. ValueError: unknown. */
  int (*cpu_names)(KpBytes architecture, int32_t models, KpAny* out);
  /* A fact of a device: a KpDeviceAttrKind by its name in lower case ("warp_size"), a property ("arch"), and of the CPU also
   * "mcpu", "mattr" ("+aes,+sha"), "mtriple". NONE if the device has no such fact. Opens the driver. */
  int (*device_fact)(KpDLDevice device, KpBytes name, KpAny* out);
} KpTargetApi;
#define KP_TARGET_API_SIZE_V1 KP_SIZE_THROUGH(KpTargetApi, device_fact)

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_TARGET_H_ */
