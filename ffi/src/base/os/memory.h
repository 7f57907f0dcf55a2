// Memory at an alignment, which one function frees whatever the alignment is.
#ifndef KERNPACK_SRC_BASE_OS_MEMORY_H_
#define KERNPACK_SRC_BASE_OS_MEMORY_H_

#include <cstddef>
#include <cstdlib>

namespace kernpack::host::os {

// alignment: a power of two and a multiple of a pointer's size, or 0 for malloc's. NULL if there isn't enough memory.
inline void* Allocate(size_t bytes, size_t alignment) noexcept {
  if (alignment == 0) return std::malloc(bytes);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
}

inline void Free(void* memory) noexcept { std::free(memory); }

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_MEMORY_H_
