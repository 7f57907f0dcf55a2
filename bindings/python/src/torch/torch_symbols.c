/* Finds entries of torch's libraries. Nothing is loaded that is not there already. */
#include "guard_torch.h"

#include "python/threads.h"

#include <dlfcn.h>

void* kpy_torch_symbol(const char* name) {
  static const char* const kLibraries[] = {"libtorch_cpu.so", "libtorch_python.so", "libc10.so"};
  static void* handles[sizeof(kLibraries) / sizeof(kLibraries[0])];
  size_t i;
  for (i = 0; i < sizeof(kLibraries) / sizeof(kLibraries[0]); ++i) {
    void *found, *handle = KPY_PUBLISHED(handles[i]);
    if (handle == NULL) {
      handle = dlopen(kLibraries[i], RTLD_LAZY | RTLD_NOLOAD);
      KPY_PUBLISH(handles[i], handle);
    }
    found = handle == NULL ? NULL : dlsym(handle, name);
    if (found != NULL) return found;
  }
  return NULL;
}
