// Copies of what was loaded, in a folder that only this user can write: <cache>/<digest>/<file's name>. A copy is what the dynamic
// linker opens, so that a file rewritten, truncated or deleted afterwards does no harm, debuggers and profilers find the code under
// a path that stays, and no descriptor does. A copy is also found by its file's state, without reading the file.
#ifndef KERNPACK_SRC_BASE_LOADER_LINUX_FILE_CACHE_H_
#define KERNPACK_SRC_BASE_LOADER_LINUX_FILE_CACHE_H_

#include <sys/stat.h>

#include <span>
#include <string>

#include "base/loader/platform.h"

namespace kernpack::platform {

// True if nobody else can write below the folder.
bool IsOurFolder(const std::string& path);

// The path of a copy of `content`, which has that digest; made where there is none. `name`: the file's, without folders.
// Empty where nothing can be kept.
std::string KeepCopy(const std::string& name, std::span<const char> content, const std::string& digest);

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_LINUX_FILE_CACHE_H_
