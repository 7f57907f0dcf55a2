/* A kernel module in C99, without any C++: the table that KP_MODULE and KP_EXPORT would write, by hand. */
#include <kernpack/abi.h>
#include <stdlib.h>

/* An instance is whatever the module wants to keep for one host; here, the host. */
struct KpInstance {
  const KpHost* host;
};

/* An input: C cannot keep anybody from writing through `data`, so the type says const as soon as it can. */
static const float* Input(const KpAny* a) {
  const KpDLTensor* t = kp_any_tensor(a);
  return (const float*)(const void*)((const char*)t->data + t->byte_offset);
}

static float* Result(const KpAny* a) {
  const KpDLTensor* t = kp_any_tensor(a);
  return (float*)(void*)((char*)t->data + t->byte_offset);
}

/* The host has checked the arguments against the signature below: x, y, a, then the result. */
static int Saxpy(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* host = ((KpInstance*)self)->host;
  const KpBytes none = {NULL, 0};
  const float *x, *y;
  float *out, a;
  int64_t i;
  (void)result;
  if (n != 4) return host->raise(host, kp_bytes("TypeError"), kp_bytes("saxpy: expected 4 arguments"), none);
  x = Input(&args[0]), y = Input(&args[1]), out = Result(&args[3]);
  a = (float)args[2].v.v_float; /* a float whatever the caller wrote: the host makes one of 2 */
  for (i = 0; i < kp_any_tensor(&args[0])->shape[0]; ++i) out[i] = a * x[i] + y[i];
  return 0;
}

static int Create(const KpHost* host, KpInstance** out) {
  const KpBytes none = {NULL, 0};
  *out = malloc(sizeof(KpInstance));
  if (!*out) return host->raise(host, kp_bytes("MemoryError"), kp_bytes("saxpy: out of memory"), none);
  (*out)->host = host;
  return 0;
}

static void Destroy(KpInstance* instance) { free(instance); }

static const KpFunctionInfo kSaxpy = {
    .struct_size = sizeof(KpFunctionInfo),
    .kind = KP_DEF_FUNCTION,
    .signature = "(x: f32[N], y: f32[N], *, a: float) -> (out: f32[N])",
    .doc = "a * x + y",
};
static const KpFunctionDef kFunctions[] = {{.name = "saxpy", .call = Saxpy, .info = &kSaxpy}};

static const KpModule kModule = {
    .struct_size = sizeof(KpModule),
    .abi_version = KP_ABI_VERSION,
    .min_host_abi = (uint32_t)KP_ABI_MAJOR << 16,
    .name = "c_module",
    .version = "1.0.0",
    .sdk_version = "0.1.0",
    .functions = kFunctions,
    .functions_end = kFunctions + 1,
    .create = Create,
    .destroy = Destroy,
};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
const KpModule* kp_module_v1(void) { return &kModule; }
