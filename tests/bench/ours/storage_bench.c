/* storage_get of one key in a loop, from several threads at once: run(threads, calls) -> ns a call in each thread.
 * Plain C: what is timed is the host's service, without the C++ layer. */
#include <kernpack/abi.h>
#include <pthread.h>
#include <time.h>

enum { MAX_THREADS = 16 };

struct KpInstance {
  const KpHost* host;
};

typedef struct Work {
  const KpHost* host;
  int64_t calls;
  int failed;
} Work;

static KpStorageKey Key(void) {
  KpStorageKey key = {kp_bytes("storage_bench"), kp_bytes("counter"), KP_SCOPE_PROCESS, 0, {0, 0}, 0};
  return key;
}

static void* Loop(void* context) {
  Work* work = context;
  const KpStorageKey key = Key();
  int64_t i;
  for (i = 0; i < work->calls; ++i) {
    KpAny value = kp_none();
    int32_t found = 0;
    work->failed |= work->host->storage_get(work->host, &key, &value, &found) || !found;
    kp_any_release(&value);
  }
  return 0;
}

static int64_t Now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int Run(void* self, const KpAny* args, int32_t n, KpAny* result) {
  const KpHost* host = ((KpInstance*)self)->host;
  const KpStorageKey key = Key();
  pthread_t threads[MAX_THREADS];
  Work work[MAX_THREADS];
  KpAny one = kp_none();
  int64_t start, i, count = n == 2 ? args[0].v.v_int : 0;
  int failed = 0;
  if (count < 1 || count > MAX_THREADS)
    return host->raise(host, kp_bytes("ValueError"), kp_bytes("run: threads: 1 to 16"), kp_bytes(""));
  one.type_index = KP_TYPE_INT;
  one.v.v_int = 1;
  if (host->storage_set(host, &key, &one)) return -1;
  start = Now();
  for (i = 0; i < count; ++i) {
    work[i].host = host, work[i].calls = args[1].v.v_int, work[i].failed = 0;
    if (pthread_create(&threads[i], 0, Loop, &work[i]))
      return host->raise(host, kp_bytes("OSError"), kp_bytes("run: no thread"), kp_bytes(""));
  }
  for (i = 0; i < count; ++i) pthread_join(threads[i], 0), failed |= work[i].failed;
  result->type_index = KP_TYPE_FLOAT;
  result->v.v_float = failed ? -1.0 : (double)(Now() - start) / (double)args[1].v.v_int;
  return 0;
}

static int Create(const KpHost* host, KpInstance** out) {
  static struct KpInstance instance;
  instance.host = host;
  *out = &instance;
  return 0;
}
static void Destroy(KpInstance* instance) { (void)instance; }

static const KpFunctionInfo run = {sizeof(KpFunctionInfo), KP_DEF_FUNCTION, 0, 0, 0, 0, 0, 0,
                                   "(int, int) -> float",  {0, 0}};
static const KpFunctionDef defs[] = {{"run", Run, &run}};
static const KpModule module = {
    sizeof(KpModule), KP_ABI_VERSION, KP_ABI_MAJOR << 16, 0, "storage_bench", "1.0.0", "0.1.0", 0, defs, defs + 1,
    Create,           Destroy,        {0, 0, 0, 0}};
KP_EXPORT_SYMBOL const KpModule* kp_module_v1(void) { return &module; }
