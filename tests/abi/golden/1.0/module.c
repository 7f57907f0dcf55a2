/* What a module in C99 can have: functions with and without a signature, variants, storage, a workspace, callbacks, errors,
 * gradients, and an alias. */
#include <kernpack/abi.h>
#include <stdlib.h>

struct KpInstance {
  const KpHost* host;
};

static const KpBytes nothing = {NULL, 0};

static const KpHost* host_of(void* self) { return ((KpInstance*)self)->host; }

static float* floats(const KpAny* a) {
  const KpDLTensor* t = kp_any_tensor(a);
  return (float*)(void*)((char*)t->data + t->byte_offset);
}

static int64_t length(const KpAny* a) { return kp_any_tensor(a)->shape[0]; }

static KpStorageKey key_of(const char* name) {
  KpStorageKey key = {{"golden_c", 8}, {NULL, 0}, KP_SCOPE_DEVICE, 0, {KP_DEVICE_CPU, 0}, NULL};
  key.key = kp_bytes(name);
  return key;
}

static int add(void* self, const KpAny* args, int32_t n, KpAny* result) {
  if (n != 2) return host_of(self)->raise(host_of(self), kp_bytes("TypeError"), kp_bytes("add: 2 numbers"), nothing);
  result->type_index = KP_TYPE_INT;
  result->v.v_int = args[0].v.v_int + args[1].v.v_int;
  return 0;
}

/* (x, a = 2.0) -> out */
static int scale(void* self, const KpAny* args, int32_t n, KpAny* result) {
  int64_t i;
  (void)self, (void)n, (void)result;
  for (i = 0; i < length(&args[0]); ++i) floats(&args[2])[i] = (float)args[1].v.v_float * floats(&args[0])[i];
  return 0;
}

static int fail(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)args, (void)n, (void)result;
  return host_of(self)->raise(host_of(self), kp_bytes("ValueError"), kp_bytes("golden says no"), nothing);
}

/* Keeps a number under a key; gives the one before it, -1 at first. */
static int keep(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* host = host_of(self);
  const KpStorageKey key = key_of("kept");
  int32_t found = 0;
  (void)n;
  if (host->storage_get(host, &key, result, &found) != 0) return -1;
  if (!found) {
    result->type_index = KP_TYPE_INT;
    result->v.v_int = -1;
  }
  return host->storage_set(host, &key, &args[0]);
}

/* The sum of 1 to n, by way of scratch memory. */
static int sum_to(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* host = host_of(self);
  const KpStorageKey key = key_of("scratch");
  const int64_t count = args[0].v.v_int;
  void* memory;
  int64_t i, sum = 0;
  (void)n;
  if (host->workspace(host, &key, (uint64_t)count * sizeof(int64_t), 0, &memory) != 0) return -1;
  for (i = 0; i < count; ++i) ((int64_t*)memory)[i] = i + 1;
  for (i = 0; i < count; ++i) sum += ((int64_t*)memory)[i];
  result->type_index = KP_TYPE_INT;
  result->v.v_int = sum;
  return 0;
}

/* f(x) + 1 */
static int call_back(void* self, const KpAny* args, int32_t n, KpAny* result) {
  KpFunctionObject* f = (KpFunctionObject*)(void*)args[0].v.v_obj;
  (void)self, (void)n;
  if (f->call(f, &args[1], 1, result) != 0) return -1;
  result->v.v_int += 1;
  return 0;
}

static int pick_baseline(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)self, (void)n, (void)result;
  floats(&args[0])[0] = 1;
  return 0;
}
static int pick_v2(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)self, (void)n, (void)result;
  floats(&args[0])[0] = 2;
  return 0;
}

static int square(void* self, const KpAny* args, int32_t n, KpAny* result) {
  int64_t i;
  (void)self, (void)n, (void)result;
  for (i = 0; i < length(&args[0]); ++i) floats(&args[1])[i] = floats(&args[0])[i] * floats(&args[0])[i];
  return 0;
}
/* (d_y, x) -> d_x */
static int square_backward(void* self, const KpAny* args, int32_t n, KpAny* result) {
  int64_t i;
  (void)self, (void)n, (void)result;
  for (i = 0; i < length(&args[0]); ++i) floats(&args[2])[i] = 2 * floats(&args[1])[i] * floats(&args[0])[i];
  return 0;
}

static const KpFunctionInfo scale_info = {.struct_size = sizeof(KpFunctionInfo),
                                          .signature = "(x: f32[N], *, a: float = 2.0) -> (out: f32[N])",
                                          .doc = "a * x"};
static const KpFunctionInfo baseline_info = {.struct_size = sizeof(KpFunctionInfo), .signature = "() -> (y: f32[1])"};
static const KpFunctionInfo v2_info = {
    .struct_size = sizeof(KpFunctionInfo), .signature = "() -> (y: f32[1])", .target = "llvm -mcpu=x86-64-v2"};
static const KpFunctionInfo square_info = {.struct_size = sizeof(KpFunctionInfo),
                                           .signature = "(x: f32[N]) -> (y: f32[N])"};
static const KpFunctionInfo square_backward_info = {.struct_size = sizeof(KpFunctionInfo),
                                                    .signature = "(d_y: f32[N], x: f32[N]) -> (d_x: f32[N])"};
static const KpFunctionInfo link_info = {
    .struct_size = sizeof(KpFunctionInfo), .kind = KP_DEF_GRADIENT, .target = "square_backward"};

static const KpFunctionDef functions[] = {
    {"add", add, NULL},
    {"scale", scale, &scale_info},
    {"fail", fail, NULL},
    {"keep", keep, NULL},
    {"sum_to", sum_to, NULL},
    {"call_back", call_back, NULL},
    {"pick", pick_baseline, &baseline_info},
    {"pick", pick_v2, &v2_info},
    {"square", square, &square_info},
    {"square_backward", square_backward, &square_backward_info},
    {"square", NULL, &link_info},
};

static int create(const KpHost* host, KpInstance** out) {
  *out = malloc(sizeof(KpInstance));
  if (!*out) return host->raise(host, kp_bytes("MemoryError"), kp_bytes("golden_c: out of memory"), nothing);
  (*out)->host = host;
  return 0;
}
static void destroy(KpInstance* instance) { free(instance); }

static const KpModule module = {.struct_size = sizeof(KpModule),
                                .abi_version = KP_ABI_VERSION,
                                .min_host_abi = (uint32_t)KP_ABI_MAJOR << 16,
                                .name = "golden_c",
                                .version = "1.0.0",
                                .sdk_version = "by hand",
                                .functions = functions,
                                .functions_end = functions + sizeof functions / sizeof *functions,
                                .create = create,
                                .destroy = destroy};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
const KpModule* kp_module_v1(void) { return &module; }

/* For hosts of the TVM FFI ABI; there is no host table to raise an error in, so it takes what comes. */
KP_EXPORT_SYMBOL int __tvm_ffi_add(void* self, const KpAny* args, int32_t n, KpAny* result);
int __tvm_ffi_add(void* self, const KpAny* args, int32_t n, KpAny* result) {
  return n == 2 ? add(self, args, n, result) : -1;
}
