/* A module in plain C99, as a C author writes it: two functions and no instance. */
#include <kernpack/abi.h>

static int add(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self;
  if (num_args != 2) return -1;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = args[0].v.v_int + args[1].v.v_int;
  return 0;
}

static int fail(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self;
  (void)args;
  (void)num_args;
  (void)result;
  return -1;
}

static const KpFunctionDef add_def = {.struct_size = sizeof(KpFunctionDef), .name = "add", .call = add, .doc = "a + b"};
static const KpFunctionDef fail_def = {.struct_size = sizeof(KpFunctionDef), .name = "fail", .call = fail};
static const KpFunctionDef* const functions[] = {&add_def, &fail_def};

static const KpModule module = {.struct_size = sizeof(KpModule),
                                .abi_version = KP_ABI_VERSION,
                                .min_host_abi = KP_ABI_MAJOR << 16,
                                .name = "fake",
                                .version = "1.0",
                                .sdk_version = "c",
                                .functions = functions,
                                .functions_end = functions + 2};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
