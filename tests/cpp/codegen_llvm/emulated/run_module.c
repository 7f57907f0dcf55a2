/* Runs functions of a module that was built for another machine: the smallest host there is, over the ABI alone.
 *
 *   run_module <module.so>
 *
 * takes a line "<function> <call file>" for each call and answers with a line of what it raised, empty when it succeeded.
 * Compiled with -DLINKED=<query function> it holds the module instead of loading one. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call_file.h"

static char g_raised[1024];

static int Raise(const KpHost* host, KpBytes kind, KpBytes message, KpBytes backtrace) {
  (void)host, (void)backtrace;
  snprintf(g_raised, sizeof g_raised, "%.*s: %.*s", (int)kind.size, kind.data, (int)message.size, message.data);
  return -1;
}

/* New memory at each call, which nothing frees: the process ends soon. */
static int Workspace(const KpHost* host, const KpStorageKey* key, uint64_t bytes, uint32_t flags, void** out) {
  const uint64_t whole = (bytes / 256 + 1) * 256;
  (void)host, (void)key, (void)flags;
  *out = aligned_alloc(256, whole);
  memset(*out, 0, whole);
  return 0;
}

static int ParallelFor(const KpHost* host, int64_t n, int64_t grain, KpParallelBody body, void* context) {
  (void)host, (void)grain;
  return body(context, 0, n / 2) || body(context, n / 2, n) ? -1 : 0;
}

static const KpHost kHost = {.struct_size = sizeof(KpHost),
                             .abi_version = KP_ABI_VERSION,
                             .raise = Raise,
                             .workspace = Workspace,
                             .parallel_for = ParallelFor};

#ifdef LINKED
const KpModule* LINKED(void);
static const KpModule* Module(const char* path) { return path ? NULL : LINKED(); }
#else
static const KpModule* Module(const char* path) {
  void* library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  KpModuleQuery query = library ? (KpModuleQuery)dlsym(library, KP_MODULE_QUERY_SYMBOL) : NULL;
  if (!query) fprintf(stderr, "%s\n", dlerror());
  return query ? query() : NULL;
}
#endif

static const KpFunctionDef* Find(const KpModule* module, const char* name) {
  for (const KpFunctionDef* f = module->functions; f != module->functions_end; ++f) {
    if (strcmp(f->name, name) == 0 && f->call) return f;
  }
  return NULL;
}

static int Call(const KpFunctionDef* f, KpInstance* instance, CallFile* file) {
  KpAny args[kMostArguments], result = kp_none();
  KpDLTensor tensors[kMostArguments];
  for (int i = 0; i < file->count; ++i) {
    CallArgument* a = &file->arguments[i];
    args[i] = kp_none();
    args[i].type_index = a->type_index;
    args[i].v.v_bits = a->bits;
    if (a->type_index != KP_TYPE_DLTENSOR_PTR) continue;
    tensors[i] = (KpDLTensor){(char*)file + a->bits, {KP_DEVICE_CPU, 0}, a->ndim, a->dtype, a->shape, NULL, 0};
    args[i].v.v_tensor = &tensors[i];
  }
  return f->call(instance, args, file->count, &result);
}

int main(int argc, char** argv) {
  const KpModule* module = Module(argc > 1 ? argv[1] : NULL);
  KpInstance* instance = NULL;
  if (!module || (module->create && module->create(&kHost, &instance) != 0)) return 1;
  char function[256], path[1024];
  while (scanf("%255s %1023s", function, path) == 2) {
    const KpFunctionDef* f = Find(module, function);
    const int fd = open(path, O_RDWR);
    struct stat info;
    if (!f || fd < 0 || fstat(fd, &info) != 0) return 2;
    void* memory = mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED) return 3;
    strcpy(g_raised, "");
    if (Call(f, instance, memory) != 0 && !g_raised[0]) strcpy(g_raised, "failed and raised nothing");
    munmap(memory, (size_t)info.st_size);
    puts(g_raised);
    fflush(stdout);
  }
  if (module->destroy) module->destroy(instance);
  return 0;
}
