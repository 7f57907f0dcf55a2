/* A module in plain C99, as a C author writes it. The tests compile it as it stands and with one fact changed (-D...). */
#include <kernpack/abi.h>

#ifndef FAKE_STRUCT_SIZE
#define FAKE_STRUCT_SIZE sizeof(KpModule)
#endif
#ifndef FAKE_ABI
#define FAKE_ABI KP_ABI_VERSION
#endif
#ifndef FAKE_MIN_HOST
#define FAKE_MIN_HOST (KP_ABI_MAJOR << 16)
#endif
#ifndef FAKE_RESERVED
#define FAKE_RESERVED 0
#endif
#ifndef FAKE_SPARE
#define FAKE_SPARE 0
#endif
#ifndef FAKE_NAME
#define FAKE_NAME "fake"
#endif
#ifndef FAKE_VERSION
#define FAKE_VERSION "1.0"
#endif
#ifndef FAKE_FUNCTION /* more fields of the second entry */
#define FAKE_FUNCTION .name = "second"
#endif
#ifndef FAKE_INFO /* more of what is said of it */
#define FAKE_INFO .doc = NULL
#endif
#ifndef FAKE_CREATE
#define FAKE_CREATE NULL
#endif
#ifndef FAKE_QUERY
#define FAKE_QUERY kp_module_v1
#endif
#ifndef FAKE_RESULT
#define FAKE_RESULT &module
#endif
#ifndef FAKE_COUNT
#define FAKE_COUNT 2
#endif
#ifndef FAKE_END
#define FAKE_END (functions + FAKE_COUNT)
#endif

static int add(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  (void)self;
  if (num_args != 2) return -1;
  result->type_index = KP_TYPE_INT;
  result->v.v_int = args[0].v.v_int + args[1].v.v_int;
  return 0;
}

#ifdef FAKE_ALIAS /* as modules have for hosts of the TVM FFI ABI */
KP_EXPORT_SYMBOL int FAKE_ALIAS(void* self, const KpAny* args, int32_t num_args, KpAny* result);
int FAKE_ALIAS(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  return add(self, args, num_args, result);
}
#endif

#ifdef FAKE_UNDEFINED
int nobody_defines_this(void);
int reference(void) { return nobody_defines_this(); }
#endif

static int refuse_create(const KpHost* host, KpInstance** out) {
  (void)out;
  return host->raise(host, kp_bytes("ValueError"), kp_bytes("no table of primes"), kp_bytes(""));
}

static int fail_silently(const KpHost* host, KpInstance** out) {
  (void)host;
  (void)out;
  return -1;
}

#ifdef FAKE_CONSTRUCTOR /* what an author's static constructor might do */
#include <stdlib.h>
__attribute__((constructor)) static void start(void) { FAKE_CONSTRUCTOR; }
#endif

static const KpFunctionInfo first_info = {.struct_size = sizeof(KpFunctionInfo), .doc = "a + b"};
static const KpFunctionInfo second_info = {.struct_size = sizeof(KpFunctionInfo), FAKE_INFO};
static const KpFunctionDef functions[] = {{.name = "add", .call = add, .info = &first_info},
                                          {.call = add, .info = &second_info, FAKE_FUNCTION},
                                          {.name = NULL}};

/* Some fakes leave these unused. */
extern const void* const fake_uses[];
__attribute__((visibility("hidden")))
const void* const fake_uses[] = {(const void*)refuse_create, (const void*)fail_silently};

static const KpModule module = {.struct_size = FAKE_STRUCT_SIZE,
                                .abi_version = FAKE_ABI,
                                .min_host_abi = FAKE_MIN_HOST,
                                .reserved = FAKE_RESERVED,
                                .name = FAKE_NAME,
                                .version = FAKE_VERSION,
                                .sdk_version = "c",
                                .functions = functions,
                                .functions_end = FAKE_END,
                                .create = FAKE_CREATE,
                                .spare = {(const void*)FAKE_SPARE}};

extern const void* const fake_module;
__attribute__((visibility("hidden"))) const void* const fake_module = &module;

KP_EXPORT_SYMBOL const KpModule* FAKE_QUERY(void);
KP_EXPORT_SYMBOL const KpModule* FAKE_QUERY(void) { return FAKE_RESULT; }
