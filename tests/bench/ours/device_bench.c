/* Workspaces and copies of the processor's, against malloc and memcpy: each function takes (bytes, calls) and gives ns a call.
 * Plain C: what is timed are the host's services. */
#include <kernpack/device_api.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct KpInstance {
  const KpHost* host;
  const KpDevices* devices;
  const KpDeviceApi* cpu;
};

static const KpDLDevice kCpu = {KP_DEVICE_CPU, 0};

static int64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Keeps the compiler from seeing that memory is not used. */
static void Use(void* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

static void* Workspace(const KpInstance* self, int64_t bytes) {
  void* memory = 0;
  if (self->devices->workspace_alloc(kCpu, (uint64_t)bytes, 0, &memory)) abort();
  return memory;
}
static void Give(const KpInstance* self, void* memory) {
  if (self->devices->workspace_free(kCpu, memory, 0)) abort();
}

static void OneWorkspace(const KpInstance* self, int64_t bytes) {
  void* memory = Workspace(self, bytes);
  Use(memory);
  Give(self, memory);
}
static void OneMalloc(const KpInstance* self, int64_t bytes) {
  void* memory = malloc((size_t)bytes);
  (void)self;
  Use(memory);
  free(memory);
}

/* Three at once, as a fused operator asks for, given back in reverse. */
static void ThreeWorkspaces(const KpInstance* self, int64_t bytes) {
  void *a = Workspace(self, bytes), *b = Workspace(self, bytes / 2), *c = Workspace(self, bytes / 4);
  Use(a), Use(b), Use(c);
  Give(self, c), Give(self, b), Give(self, a);
}
static void ThreeMallocs(const KpInstance* self, int64_t bytes) {
  void *a = malloc((size_t)bytes), *b = malloc((size_t)bytes / 2), *c = malloc((size_t)bytes / 4);
  (void)self;
  Use(a), Use(b), Use(c);
  free(c), free(b), free(a);
}

static char* g_from;
static char* g_to;

static void OneCopy(const KpInstance* self, int64_t bytes) {
  const KpMemory from = {g_from, 0, {KP_DEVICE_CPU, 0}}, to = {g_to, 0, {KP_DEVICE_CPU, 0}};
  if (self->cpu->copy(self->cpu, &from, &to, (uint64_t)bytes, 0)) abort();
  Use(g_to);
}
static void OneMemcpy(const KpInstance* self, int64_t bytes) {
  (void)self;
  memcpy(g_to, g_from, (size_t)bytes);
  Use(g_to);
}

static int Time(void (*work)(const KpInstance*, int64_t), void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpInstance* instance = self;
  const int64_t bytes = n == 2 ? args[0].v.v_int : 0;
  const int64_t calls = n == 2 ? args[1].v.v_int : 0;
  int64_t start, i;
  if (bytes < 4 || calls < 1)
    return instance->host->raise(instance->host, kp_bytes("ValueError"), kp_bytes("expected (bytes, calls)"),
                                 kp_bytes(""));
  if (g_from == 0 && (g_from = malloc(64 << 20)) && (g_to = malloc(64 << 20))) memset(g_from, 1, 64 << 20);
  work(instance, bytes);
  start = Now();
  for (i = 0; i < calls; ++i) work(instance, bytes);
  result->type_index = KP_TYPE_FLOAT;
  result->v.v_float = (double)(Now() - start) / (double)calls;
  return 0;
}

#define TIMED(name, work) \
  static int name(void* self, const KpAny* args, int32_t n, KpAny* result) { return Time(work, self, args, n, result); }
TIMED(workspace, OneWorkspace)
TIMED(malloc_free, OneMalloc)
TIMED(three_workspaces, ThreeWorkspaces)
TIMED(three_mallocs, ThreeMallocs)
TIMED(copy, OneCopy)
TIMED(plain_memcpy, OneMemcpy)

static int Create(const KpHost* host, KpInstance** out) {
  static struct KpInstance instance;
  const void* table = 0;
  instance.host = host;
  if (host->get_extension(host, kp_bytes(KP_DEVICES_EXTENSION), 1, &table)) return -1;
  instance.devices = table;
  *out = &instance;
  return instance.devices->device_api(KP_DEVICE_CPU, &instance.cpu);
}
static void Destroy(KpInstance* instance) { (void)instance; }

static const KpFunctionDef defs[] = {{"copy", copy, 0},
                                     {"malloc_free", malloc_free, 0},
                                     {"plain_memcpy", plain_memcpy, 0},
                                     {"three_mallocs", three_mallocs, 0},
                                     {"three_workspaces", three_workspaces, 0},
                                     {"workspace", workspace, 0}};
static const KpModule module = {
    sizeof(KpModule), KP_ABI_VERSION, KP_ABI_MAJOR << 16, 0, "device_bench", "1.0.0", "0.1.0", 0, defs, defs + 6,
    Create,           Destroy,        {0, 0, 0, 0}};
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
