// Memory at an alignment, which one function frees whatever the alignment is.
#ifndef KERNPACK_SRC_BASE_OS_MEMORY_H_
#define KERNPACK_SRC_BASE_OS_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#if defined(_WIN32)
#include <malloc.h>
#endif

namespace kernpack::host::os {

// alignment: a power of two and a multiple of a pointer's size, or 0 for malloc's. NULL if there isn't enough memory.
inline void* Allocate(size_t bytes, size_t alignment) noexcept {
#if defined(_WIN32)
  // Memory of malloc's would need another function to be freed.
  constexpr size_t kOfMalloc = 16;
  return _aligned_malloc(bytes, alignment == 0 ? kOfMalloc : alignment);
#else
  if (alignment == 0) return std::malloc(bytes);
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : nullptr;
#endif
}

#if defined(_WIN32)
inline void Free(void* memory) noexcept { _aligned_free(memory); }
#else
inline void Free(void* memory) noexcept { std::free(memory); }
#endif

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_MEMORY_H_
