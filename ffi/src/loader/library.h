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
  std::string verified;  // see distribution.h; of the file that it was first loaded from
  void* handle;
  ImageSymbols symbols;
};

// Reads, checks and loads the file, or finds the library of the same content. `flags` are KpLoadFlags. Calls must not
// overlap. Returns 0, or -1 raised.
int LoadLibraryFile(const char* path, uint32_t flags, const Library** out);

// All that were loaded, in the order of their paths: [{"path", "digest", "verified": "name version" or null}].
std::string DescribeLibraries();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_LOADER_LIBRARY_H_
