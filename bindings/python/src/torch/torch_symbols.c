/* Finds entries of torch's libraries. Nothing is loaded that is not there already. */
#include "guard_torch.h"

#include "python/system.h"
#include "python/threads.h"

void* kpy_torch_symbol(const char* name) {
  static const char* const kLibraries[] = {KPY_LIBRARY_FILE("torch_cpu"), KPY_LIBRARY_FILE("torch_python"),
                                           KPY_LIBRARY_FILE("c10")};
  static void* handles[sizeof(kLibraries) / sizeof(kLibraries[0])];
  size_t i;
  for (i = 0; i < sizeof(kLibraries) / sizeof(kLibraries[0]); ++i) {
    void *found, *handle = KPY_PUBLISHED(handles[i]);
    if (handle == NULL) {
      handle = kpy_loaded_library(kLibraries[i]);
      KPY_PUBLISH(handles[i], handle);
    }
    found = handle == NULL ? NULL : kpy_library_symbol(handle, name);
    if (found != NULL) return found;
  }
  return NULL;
}
