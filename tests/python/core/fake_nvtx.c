/* The library of NVTX_INJECTION64_PATH: a profiler's library, which prints the ranges that it is told of, indented by depth. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*Function)(void);

static int depth;

static int push(const char* name) {
  fprintf(stderr, "%*sbegin %s\n", 2 * depth, "", name);
  return depth++;
}

static int pop(void) {
  fprintf(stderr, "%*send\n", 2 * --depth, "");
  return depth;
}

struct Callbacks {
  size_t size;
  int (*table)(uint32_t module, Function*** out, uint32_t* out_size);
};

#define CALLBACKS 1
#define CORE 1
#define CORE2 5
#define RANGE_PUSH_A 9
#define RANGE_POP 11

int InitializeInjectionNvtx2(const void* (*export_table)(uint32_t)) {
  const struct Callbacks* callbacks = export_table(CALLBACKS);
  Function** table = NULL;
  uint32_t size = 0;
  if (!callbacks || callbacks->size < sizeof *callbacks || export_table(99)) return 0;
  if (callbacks->table(CORE2, &table, &size)) return 0; /* a program may lack a module */
  if (!callbacks->table(CORE, &table, &size) || size <= RANGE_POP) return 0;
  *table[RANGE_PUSH_A] = (Function)push;
  *table[RANGE_POP] = (Function)pop;
  return 1;
}
