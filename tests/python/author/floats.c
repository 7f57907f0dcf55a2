/* The argument of a kernel in C for `float`: it reads v_float without a look at the type. */
#include <kernpack/abi.h>

static double* data(const KpAny* a) {
  const KpDLTensor* t = kp_any_tensor(a);
  return (double*)(void*)((char*)t->data + t->byte_offset);
}

/* x, a, many, maybe, the result: a, maybe (else -1), the sum of many, and how many values weren't floats. */
static int Seen(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpSequenceObject* many = (const KpSequenceObject*)(const void*)args[2].v.v_obj;
  double* out = data(&args[n - 1]);
  int64_t i;
  (void)self, (void)result;
  out[0] = args[1].v.v_float;
  out[1] = args[3].type_index == KP_TYPE_NONE ? -1 : args[3].v.v_float;
  out[2] = 0;
  out[3] = args[1].type_index != KP_TYPE_FLOAT;
  if (args[3].type_index != KP_TYPE_NONE) out[3] += args[3].type_index != KP_TYPE_FLOAT;
  for (i = 0; i < many->size; ++i) {
    out[2] += many->data[i].v.v_float;
    out[3] += many->data[i].type_index != KP_TYPE_FLOAT;
  }
  return 0;
}

static const KpFunctionInfo kSeen = {
    .struct_size = sizeof(KpFunctionInfo),
    .signature = "(x: f64[N], a: float, many: list[float] = [], maybe: float? = None) -> (out: f64[4])",
};
static const KpFunctionDef kFunctions[] = {{"seen", Seen, &kSeen}};

static const KpModule kModule = {
    .struct_size = sizeof(KpModule),
    .abi_version = KP_ABI_VERSION,
    .min_host_abi = (uint32_t)KP_ABI_MAJOR << 16,
    .name = "floats_in_c",
    .version = "1.0.0",
    .sdk_version = "0.1.0",
    .functions = kFunctions,
    .functions_end = kFunctions + 1,
};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
const KpModule* kp_module_v1(void) { return &kModule; }
