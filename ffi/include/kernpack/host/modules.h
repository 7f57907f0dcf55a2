/* Loaded modules and their functions, for the SDK and for modules that call others: the extension KP_MODULES_EXTENSION, version 1,
 * of every KpHost that libkernpack made. A table, for the reason in kernpack/host/target.h. C99; the conventions of
 * host.h.
 */
#ifndef KERNPACK_HOST_MODULES_H_
#define KERNPACK_HOST_MODULES_H_

#include <kernpack/host/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Each field is the function of host.h with the same name after kp_. Later minors append fields. */
typedef struct KpModules {
  uint32_t struct_size;
  uint32_t reserved; /* zero */
  int (*module_adopt)(const KpModule* module, const KpLoadedModule** out);
  const char* (*module_name)(const KpLoadedModule* module);
  const char* (*module_version)(const KpLoadedModule* module);
  int32_t (*module_function_count)(const KpLoadedModule* module);
  const KpLoadedFunction* (*module_function_at)(const KpLoadedModule* module, int32_t index);
  int (*function_find)(KpBytes qualified_name, const KpLoadedFunction** out);
  int (*function_resolve)(const KpLoadedFunction* function, KpDLDevice device, KpSafeCall* call, void** self);
  int (*function_variants)(const KpLoadedFunction* function, KpAny* out);
  const char* (*signature_text)(const KpSignature* signature);
  int (*call)(const KpLoadedFunction* function, const KpAny* args, int32_t num_args, KpAny* result);
} KpModules;
#define KP_MODULES_SIZE_V1 KP_SIZE_THROUGH(KpModules, call)
#define KP_MODULES_EXTENSION "kernpack.modules"

#ifdef __cplusplus
}
#endif

#endif /* KERNPACK_HOST_MODULES_H_ */
