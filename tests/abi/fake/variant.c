/* One file of a module that is spread over several: its implementation of "op" for VARIANT_TARGET, which answers with
 * VARIANT_NUMBER, and a function that only this file has. */
#include <kernpack/abi.h>

#ifndef VARIANT_MODULE
#define VARIANT_MODULE "spread"
#endif
#ifndef VARIANT_VERSION
#define VARIANT_VERSION "1.0"
#endif
#ifndef VARIANT_SIGNATURE
#define VARIANT_SIGNATURE "(x: f32[N]) -> (y: f32[N])"
#endif
#ifndef VARIANT_DOC
#define VARIANT_DOC NULL
#endif
#ifndef VARIANT_MORE /* one more entry, and what is said of it */
#define VARIANT_MORE .name = "unused", .call = answer
#define VARIANT_INFO .doc = NULL
#define VARIANT_COUNT 2
#else
#define VARIANT_COUNT 3
#endif

static int answer(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)args, (void)num_args;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = VARIANT_NUMBER;
  return 0;
}

static const KpFunctionInfo op = {.struct_size = sizeof(KpFunctionInfo),
                                  .target = VARIANT_TARGET,
                                  .signature = VARIANT_SIGNATURE,
                                  .doc = VARIANT_DOC};
static const KpFunctionInfo more = {.struct_size = sizeof(KpFunctionInfo), VARIANT_INFO};
static const KpFunctionDef functions[] = {
    {.name = "op", .call = answer, .info = &op}, {.name = VARIANT_OWN, .call = answer}, {.info = &more, VARIANT_MORE}};

static const KpModule module = {.struct_size = sizeof(KpModule),
                                .abi_version = KP_ABI_VERSION,
                                .min_host_abi = KP_ABI_MAJOR << 16,
                                .name = VARIANT_MODULE,
                                .version = VARIANT_VERSION,
                                .sdk_version = VARIANT_TEST, /* files of one content are one object in a process */
                                .functions = functions,
                                .functions_end = functions + VARIANT_COUNT};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
