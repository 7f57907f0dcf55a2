/* The functions of system.h on Windows. */
#include "python/system.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <malloc.h>

void* kpy_loaded_library(const char* file) {
  HMODULE found = NULL;
  return GetModuleHandleExA(GET_MODULE_HANDLE_EX_FLAG_PIN, file, &found) ? (void*)found : NULL;
}

void* kpy_library_symbol(void* library, const char* name) {
  union {
    FARPROC function;
    void* address;
  } found;
  found.function = GetProcAddress((HMODULE)library, name);
  return found.address;
}

size_t kpy_usable_bytes(void* allocation) { return _msize(allocation); }

size_t kpy_stack_left(void) {
  ULONG_PTR lowest = 0, end = 0;
  GetCurrentThreadStackLimits(&lowest, &end);
  return (size_t)((ULONG_PTR)&lowest - lowest);
}

void kpy_sleep_forever(void) {
  for (;;) Sleep(INFINITE);
}

int kpy_after_fork(void (*in_child)(void)) {
  (void)in_child;
  return 0;
}
