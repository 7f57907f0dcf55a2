// Shared objects in this process, one for each content.
#ifndef KERNPACK_SRC_LOADER_LIBRARY_H_
#define KERNPACK_SRC_LOADER_LIBRARY_H_

#include <cstdint>
#include <string>

#include "loader/image.h"

namespace kernpack::host {

// Immortal.
struct Library {
  std::string path;  // it was first loaded from
  std::string digest;
  void* handle;
  ImageSymbols symbols;
};

// Reads, checks and loads the file, or finds the library of the same content. `flags` are KpLoadFlags. Calls must not
// overlap. Returns 0, or -1 raised.
int LoadLibraryFile(const char* path, uint32_t flags, const Library** out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_LOADER_LIBRARY_H_
