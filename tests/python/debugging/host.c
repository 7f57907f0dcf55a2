/* host MODULE.so FUNCTION NUMBER: calls the module's function with an int. What it raised goes to stdout: kind, message, backtrace.
 * The shell command in BETWEEN runs after the module was loaded and before it is called. THREADS=n: that many threads call it at
 * the same time. */
#include <kernpack/host/host.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

int before_the_call; /* debuggers watch it change */

static int report(const char* what) {
  KpAny error = kp_none();
  const KpErrorObject* body;
  kp_error_take(what, -1, &error);
  body = (const KpErrorObject*)(const void*)error.v.v_obj;
  printf("%s: %s\n%s\n", body->kind.data, body->message.data, body->backtrace.data);
  kp_any_release(&error);
  return 1;
}

__attribute__((noinline)) static void module_is_loaded(const char* command) {
  if (command && system(command) != 0) exit(3);
  before_the_call = 1;
}

enum { MOST_THREADS = 16 };
static const KpLoadedFunction* g_function;
static KpAny g_number;
static pthread_barrier_t g_start;

static void* call(void* failed) {
  KpAny result = kp_none();
  pthread_barrier_wait(&g_start);
  if (kp_call(g_function, &g_number, 1, &result) != 0) *(int*)failed = report("kp_call");
  kp_any_release(&result);
  return NULL;
}

int main(int argc, char** argv) {
  const KpLoadedModule* module = NULL;
  const char* wanted = getenv("THREADS");
  pthread_t threads[MOST_THREADS];
  int failed[MOST_THREADS] = {0};
  int i, any = 0, count = wanted ? atoi(wanted) : 1;
  if (argc != 4 || count < 1 || count > MOST_THREADS) return 2;
  if (kp_module_load((const char* const*)&argv[1], 1, KP_LOAD_DEFAULT, &module) != 0) return report("kp_module_load");
  module_is_loaded(getenv("BETWEEN"));
  g_function = kp_module_function(module, kp_bytes(argv[2]));
  if (!g_function) return 2;
  g_number = kp_none();
  g_number.type_index = KP_TYPE_INT;
  g_number.v.v_int = atoi(argv[3]);
  pthread_barrier_init(&g_start, NULL, (unsigned)count);
  for (i = 1; i < count; ++i) {
    if (pthread_create(&threads[i], NULL, call, &failed[i]) != 0) return 4;
  }
  call(&failed[0]);
  for (i = 1; i < count; ++i) pthread_join(threads[i], NULL);
  for (i = 0; i < count; ++i) any |= failed[i];
  return any;
}
