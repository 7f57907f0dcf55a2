// Opening a path with the dynamic linker, and finding out which file it took.
#ifndef KERNPACK_SRC_BASE_LOADER_LINUX_OPENED_H_
#define KERNPACK_SRC_BASE_LOADER_LINUX_OPENED_H_

#include <span>
#include <string>

#include "base/loader/platform.h"

namespace kernpack::platform {

// glibc knows an object by its path string: under which string did which content go to dlopen? True if another content did.
bool PathIsTaken(const std::string& path, const std::string& digest);
void TakePath(const std::string& path, const std::string& digest);

// NULL with *error set.
void* Open(const std::string& name, std::string* error);
// True if the linker's error says that the folder's file system doesn't allow code.
bool MayNotBeExecuted(const std::string& error);

// True if the segments that the dynamic linker mapped equal `content`. Compares every segment that is never written.
bool ImageHolds(void* handle, std::span<const char> content);

std::string RealPath(const char* path);

enum class InPlace {
  kOpened,
  kRefused,  // by the linker, for the reason in *error
  kReplaced,  // another file was at the path before the linker was done, or has been in the process under that path
  kImpossible  // other content of that file is mapped already, or its file system doesn't allow code: a copy has to be made
};

// Opens the file itself, which had that state when it was hashed. `content`: none where it is not at hand.
InPlace OpenInPlace(const char* path, std::span<const char> content, const FileState& state, const std::string& digest,
                    void** handle, std::string* error);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_LINUX_OPENED_H_
