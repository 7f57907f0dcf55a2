/* Mistakes that only a module in C can make: the function pointer's own rules. */
#include <kernpack/abi.h>

static const KpHost* g_host;

static float* Data(const KpAny* value) {
  const KpDLTensor* tensor = kp_any_tensor(value);
  return (float*)(void*)((char*)tensor->data + tensor->byte_offset);
}

static int RaisesAndReturnsZero(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)num_args, (void)result;
  Data(&args[1])[0] = Data(&args[0])[0];
  (void)g_host->raise(g_host, kp_bytes("ValueError"), kp_bytes("too late"), kp_bytes(""));
  return 0;
}

static int ReturnsAValue(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)num_args;
  Data(&args[1])[0] = Data(&args[0])[0];
  result->type_index = KP_TYPE_INT;
  result->v.v_int = 3;
  return 0;
}

static int ChangesArguments(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)num_args, (void)result;
  Data(&args[2])[0] = Data(&args[0])[0];
  ((KpAny*)(void*)(uintptr_t)&args[1])->v.v_float = 3.0;
  return 0;
}

static int IgnoresOffset(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self, (void)num_args, (void)result;
  Data(&args[1])[0] = ((float*)kp_any_tensor(&args[0])->data)[0];
  return 0;
}

static int Create(const KpHost* host, KpInstance** out) {
  g_host = host;
  *out = NULL;
  return 0;
}

#define INFO(name, signature)                   \
  static const KpFunctionInfo k##name##Info = { \
      sizeof(KpFunctionInfo), KP_DEF_FUNCTION, NULL, signature, NULL, 0, 0, NULL, NULL, {NULL, NULL}};
INFO(Raises, "(x: f32[N]) -> (out: f32[1])")
INFO(Returns, "(x: f32[N]) -> (out: f32[1])")
INFO(Ignores, "(x: f32[N]) -> (out: f32[1])")
INFO(Changes, "(x: f32[N], eps: float = 1e-5) -> (out: f32[1])")

static const KpFunctionDef kFunctions[] = {
    {"raises_and_returns_zero", RaisesAndReturnsZero, &kRaisesInfo},
    {"returns_a_value", ReturnsAValue, &kReturnsInfo},
    {"changes_arguments", ChangesArguments, &kChangesInfo},
    {"ignores_offset", IgnoresOffset, &kIgnoresInfo},
};

static const KpModule kModule = {sizeof(KpModule),
                                 KP_ABI_VERSION,
                                 KP_ABI_VERSION,
                                 0,
                                 "planted_c",
                                 "1.0.0",
                                 "1",
                                 NULL,
                                 kFunctions,
                                 kFunctions + 4,
                                 Create,
                                 NULL,
                                 {NULL, NULL, NULL, NULL}};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &kModule; }
