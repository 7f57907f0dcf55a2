// Shared objects in this process, one for each content.
#ifndef KERNPACK_SRC_MODULES_LIBRARY_H_
#define KERNPACK_SRC_MODULES_LIBRARY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/loader/image.h"
#include "base/loader/needs.h"
#include "base/loader/platform.h"

namespace kernpack::host {

// Immortal.
struct Library {
  std::string path;  // it was first loaded from
  std::string digest;
  std::string verified;  // see base/loader/verify.h; of the file that it was first loaded from
  void* handle;
  ImageSymbols symbols;
  std::vector<NeededLibrary> needs;  // of other wheels
};

// A file that was asked for.
struct LoadedFile {
  const Library* library = nullptr;
  platform::FileState state;
  std::string verified;
  bool in_place = false;  // mapped where it lies
  bool remember = false;  // its state tells what it holds, and wasn't known
  bool known = false;  // a module was made of it alone before
};

// Reads, checks and loads the file, or finds the library of the same content. `flags` are KpLoadFlags. Calls must not
// overlap. Returns 0, or -1 raised.
int LoadLibraryFile(const char* path, uint32_t flags, LoadedFile* out);

// Of `kernpack verify --warm`: compares the file with RECORD, and with a lock if one is required, and writes down its digest for an image
// of this file system. Leaves in *verified what it is then; nothing where no RECORD has a hash for it. Returns 0, or -1 raised.
int WarmFile(const char* path, std::string* verified);

// Lets later loads of the file find it again unread, now that a module was made of it: alone, or together with others.
void RememberFile(const char* path, const LoadedFile& file, bool alone);

// All that were loaded, in the order of their paths: [{"path", "digest", "verified": "name version" or null,
// "needs": [{"library", "path"}]}].
std::string DescribeLibraries();

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_LIBRARY_H_
