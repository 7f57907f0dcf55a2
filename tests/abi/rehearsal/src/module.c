/* A module in C99. With REHEARSAL_NEWS it also uses what the rehearsal's ABI 1.1 adds; with REHEARSAL_NEEDS it says that it
 * cannot live without; with REHEARSAL_CLAIM it sets the field that was a spare one; with REHEARSAL_FIELD the field at the end. */
#include <kernpack/abi.h>
#ifdef REHEARSAL_NEWS
#include <kernpack/device_service.h>
#include <kernpack/service.h>
#endif

#ifdef REHEARSAL_NEEDS
#define OLDEST_HOST KP_ABI_VERSION
#else
#define OLDEST_HOST KP_ABI_OLDEST_HOST
#endif

static const KpHost* g_host; /* of the last load: one host a process is all that a cell has */

static int fail(const char* message) {
  const KpBytes none = {NULL, 0};
  return g_host->raise(g_host, kp_bytes("ValueError"), kp_bytes(message), none);
}

static int add(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)self;
  if (n != 2) return fail("add: expected 2 arguments");
  result->type_index = KP_TYPE_INT;
  result->v.v_int = args[0].v.v_int + args[1].v.v_int;
  return 0;
}

static float* floats(const KpAny* a) {
  const KpDLTensor* t = kp_any_tensor(a);
  return (float*)(void*)((char*)t->data + t->byte_offset);
}

static int twice(void* self, const KpAny* args, int32_t n, KpAny* result) {
  int64_t i;
  (void)self, (void)n, (void)result;
  for (i = 0; i < kp_any_tensor(&args[0])->shape[0]; ++i) floats(&args[1])[i] = 2 * floats(&args[0])[i];
  return 0;
}

static int refuse(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)self, (void)args, (void)n, (void)result;
  return fail("the module says no");
}

#ifdef REHEARSAL_NEWS
static int news(void* self, const KpAny* args, int32_t n, KpAny* result) {
  int64_t out = 0;
  (void)self, (void)n;
  if (kp_host_rehearse(g_host)(g_host, args[0].v.v_int, &out) != 0) return -1;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = out;
  return 0;
}

/* The service that 1.1 adds to devices, of a device type: through the host's table, whatever its backend has. */
static int device_news(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpDLDevice device = {(int32_t)args[0].v.v_int, 0};
  const void* devices;
  const KpDeviceApi* api;
  int (*rehearse)(const KpDeviceApi*, KpDLDevice, int64_t, int64_t*);
  (void)self, (void)n;
  if (g_host->get_extension(g_host, kp_bytes(KP_DEVICES_EXTENSION), 1, &devices) != 0) return -1;
  if (((const KpDevices*)devices)->device_api(device.device_type, &api) != 0) return -1;
  if (!(rehearse = kp_device_rehearse(g_host, api))) return -1;
  result->type_index = KP_TYPE_INT;
  return rehearse(api, device, 5, &result->v.v_int);
}

static const KpFunctionInfo word_info = {.struct_size = sizeof(KpFunctionInfo),
                                         .signature = "1.1 (x: f32[N]) -> (y: f32[N]) with rehearsed"};
#endif

static const KpFunctionInfo twice_info = {.struct_size = sizeof(KpFunctionInfo),
                                          .signature = "(x: f32[N]) -> (y: f32[N])",
#ifdef REHEARSAL_FIELD
                                          .rehearsal = "a field at the end",
#endif
                                          .doc = "2 * x"};
/* A variant that no processor satisfies, and a baseline. */
static const KpFunctionInfo chosen_info = {.struct_size = sizeof(KpFunctionInfo), .signature = "() -> (y: f32[1])"};
static const KpFunctionInfo variant_info = {
    .struct_size = sizeof(KpFunctionInfo), .signature = "() -> (y: f32[1])", .target = "llvm -mcpu=x86-64-v2"};

static int chosen(void* self, const KpAny* args, int32_t n, KpAny* result) {
  (void)self, (void)n, (void)result;
  floats(&args[0])[0] = 7;
  return 0;
}

static const KpFunctionDef functions[] = {
    {.name = "add", .call = add},
    {.name = "twice", .call = twice, .info = &twice_info},
    {.name = "refuse", .call = refuse},
    {.name = "chosen", .call = chosen, .info = &chosen_info},
    {.name = "chosen", .call = chosen, .info = &variant_info},
#ifdef REHEARSAL_NEWS
    {.name = "news", .call = news},
    {.name = "device_news", .call = device_news},
    {.name = "word", .call = twice, .info = &word_info},
#endif
};

static int create(const KpHost* host, KpInstance** out) {
  g_host = host;
  *out = NULL;
  return 0;
}

static const KpModule module = {.struct_size = sizeof(KpModule),
                                .abi_version = KP_ABI_VERSION,
                                .min_host_abi = OLDEST_HOST,
                                .name = "rehearsal_c",
                                .version = "1.0",
                                .sdk_version = "by hand",
#ifdef REHEARSAL_CLAIM
                                .claimed = "once a spare field",
#endif
#ifdef REHEARSAL_FIELD
                                .rehearsal = "a field at the end",
#endif
                                .functions = functions,
                                .functions_end = functions + sizeof functions / sizeof *functions,
                                .create = create};

/* kp_module_v1, kp_module_v2: the symbol of these headers' major version */
#define QUERY_(major) kp_module_v##major
#define QUERY(major) QUERY_(major)
KP_EXPORT_SYMBOL const KpModule* QUERY(KP_ABI_MAJOR)(void);
const KpModule* QUERY(KP_ABI_MAJOR)(void) { return &module; }
