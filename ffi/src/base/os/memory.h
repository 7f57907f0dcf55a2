// Memory at an alignment, which one function frees whatever the alignment is; and a search in memory.
#ifndef KERNPACK_SRC_BASE_OS_MEMORY_H_
#define KERNPACK_SRC_BASE_OS_MEMORY_H_

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
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

// Where `part` is in `bytes`; npos where it isn't. Unlike std::search and std::string_view::find, memmem takes no look at most of the bytes.
inline size_t FindBytes(std::string_view bytes, std::string_view part) noexcept {
#if defined(_WIN32)
  return bytes.find(part);
#else
  const void* at = memmem(bytes.data(), bytes.size(), part.data(), part.size());
  return at == nullptr ? bytes.npos : static_cast<size_t>(static_cast<const char*>(at) - bytes.data());
#endif
}

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_MEMORY_H_
