/* What the host knows about targets, for the SDK and for backends: the extension "kernpack.target", version 1, of every KpHost
 * of libkernpack's making. A table, so that a copy of the SDK in a binary of its own (the Python extension of
 * kernpack-compiler) serves the one host of the process without linking to it. C99; the conventions of host.h.
 */
#ifndef KERNPACK_HOST_TARGET_H_
#define KERNPACK_HOST_TARGET_H_

#include <kernpack/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A later minor adds at the end. */
typedef struct KpTargetApi {
  uint32_t struct_size;
  int (*device_from_name)(KpBytes name, KpDLDevice* out); /* kp_device_from_name */
  const char* (*device_type_name)(int32_t device_type); /* kp_device_type_name */
  /* May code built for target `code` run on what target `machine` describes? Both in command-line form. *rank: -1 not at all,
   * else above 0 and higher is more specific. *reason: STR, a fragment of a sentence that says why. */
  int (*match)(KpBytes code, KpBytes machine, int32_t* rank, KpAny* reason);
  /* What a CPU target's options say: *out is a STR of the architecture ("x86_64"; "?" when it is not known or not named) and the
   * features with all that they bring, between spaces. `attributes` is "+avx2,-fma", "" for none. ValueError: a processor or
   * feature that the architecture does not have, with the nearest that it has. */
  int (*cpu_features)(KpBytes triple, KpBytes cpu, KpBytes attributes, KpAny* out);
  /* STR: names between spaces; of models (`models` not 0) or features of the architecture. ValueError: not known. */
  int (*cpu_names)(KpBytes architecture, int32_t models, KpAny* out);
  /* A fact of a device: a KpDeviceAttrKind by its name in lower case ("warp_size"), a property ("arch"), and of the CPU also
   * "mcpu", "mattr" ("+aes,+sha"), "mtriple". NONE where the device has no such thing. Opens the driver. */
  int (*device_fact)(KpDLDevice device, KpBytes name, KpAny* out);
} KpTargetApi;
#define KP_TARGET_API_SIZE_V1 KP_SIZE_THROUGH(KpTargetApi, device_fact)

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_TARGET_H_ */
