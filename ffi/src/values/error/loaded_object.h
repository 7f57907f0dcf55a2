// Which shared object of the process, or the program itself, an address belongs to, and whether its file still is what was loaded.
#ifndef KERNPACK_SRC_VALUES_ERROR_LOADED_OBJECT_H_
#define KERNPACK_SRC_VALUES_ERROR_LOADED_OBJECT_H_

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernpack::host {

struct LoadedObject {
  uintptr_t base = 0;  // what the addresses in its file count from
  char path[PATH_MAX];
  size_t head_size = 0;
  char head[4096];  // the first bytes of its image: the headers, and the build ID where the linker writes one

  std::string_view Head() const { return {head, head_size}; }
};

bool FindLoadedObject(const void* address, LoadedObject* out) noexcept;
// True if the file at the object's path begins like its image and has all of its sections. A file that was rebuilt or deleted
// doesn't.
bool IsItsFile(const LoadedObject& object) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_ERROR_LOADED_OBJECT_H_
