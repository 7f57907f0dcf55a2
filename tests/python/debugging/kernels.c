/* A kernel in C that raises from a helper. */
#include <kernpack/abi.h>

struct KpInstance {
  const KpHost* host;
};
static struct KpInstance g_instance;

__attribute__((noinline)) static int f(const KpHost* host) {
  const KpBytes none = {NULL, 0};
  int rc = host->raise(host, kp_bytes("ValueError"), kp_bytes("fail: from C"), none); /* raises */
  __asm__ volatile("");
  return rc;
}

static int FailInC(void* self, const KpAny* args, int32_t n, KpAny* result) {
  int rc = f(((struct KpInstance*)self)->host); /* calls the helper */
  (void)args, (void)n, (void)result;
  __asm__ volatile("");
  return rc;
}

static int Create(const KpHost* host, KpInstance** out) {
  g_instance.host = host;
  *out = &g_instance;
  return 0;
}

static const KpFunctionDef kFunctions[] = {{.name = "fail", .call = FailInC}};

static const KpModule kModule = {
    .struct_size = sizeof(KpModule),
    .abi_version = KP_ABI_VERSION,
    .min_host_abi = (uint32_t)KP_ABI_MAJOR << 16,
    .name = "debugged_c",
    .version = "1.0.0",
    .sdk_version = "0.1.0",
    .functions = kFunctions,
    .functions_end = kFunctions + 1,
    .create = Create,
};

KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void);
const KpModule* kp_module_v1(void) { return &kModule; }
