/* The functions of system.h on Linux. */
#include "python/system.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

void* kpy_loaded_library(const char* file) { return dlopen(file, RTLD_LAZY | RTLD_NOLOAD); }

void* kpy_library_symbol(void* library, const char* name) { return dlsym(library, name); }

size_t kpy_usable_bytes(void* allocation) { return malloc_usable_size(allocation); }

size_t kpy_stack_left(void) { return SIZE_MAX; }

void kpy_sleep_forever(void) {
  for (;;) (void)pause();
}

int kpy_after_fork(void (*in_child)(void)) { return pthread_atfork(NULL, NULL, in_child) == 0 ? 0 : -1; }
